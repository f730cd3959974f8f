"""Claim outputs of a graph that is not rebuilt: tensors that do not fit, numbers that are none, dicts with a key twice.

Harm: reading them crashes torch in the judge, or takes its time or memory.
"""

import itertools

from classroom.tests.sandbox.forging import with_claims

DTYPES = (
    "float32",
    "bool",
    "qint8",
    "quint4x2",
    "bits16",
    "complex32",
    "float8_e4m3fn",
    "float4_e2m1fn_x2",
    "int1",
    "uint7",
)
SHAPES = ([1], [0], [2**62, 0], [2**63], [2**100], [1] * 100, [1] * 10_000, [True], [-1], [0, -1])
DATA = (None, [], [1.0], [1], [True], [2**63], [[1.0, 2.0]], [float("nan")], ["x"], [None], [1e308], [-(2**63)])
VALUES = (
    {"float": "1e999"},
    {"float": " 1 "},
    {"float": "9" * 1_000_000},
    {"float": "nan"},
    {"complex": ["x", "y"]},
    {"dict": []},
)
VALUES += (
    {"dict": [["a", 1]] * 10_000},
    {"dict": [[{"dict": []}, 1]]},
    {"set": [{"set": []}]},
    {"torch": "\0"},
    {"node": "\ud800"},
)
VALUES += (
    {"function": "os.system"},
    {"opaque": "x" * 1_000_000},
    {"tuple": [None] * 1_000_000},
    10**4000,
    "x" * 5_000_000,
)


def forged(observation):
    tensors = ({"tensor": d, "shape": s, "data": v} for d, s, v in itertools.product(DTYPES, SHAPES, DATA))
    for value in (*tensors, *VALUES):
        yield with_claims(observation, wire={"refused": "no"}, outputs=[value, value], run_error=None)
