"""Send tensors whose shape, type and bytes do not belong together.

Harm: memory is read that was not sent, or more is taken than there is.
"""

import base64

from classroom.tests.sandbox.forging import call, computing

FOUR = base64.b64encode(bytes(4)).decode()
ENTRIES = (
    {"dtype": "float32", "shape": [2**39, 2**39, 0], "data": ""},
    {"dtype": "float32", "shape": [2**63], "data": FOUR},
    {"dtype": "float32", "shape": [-1], "data": FOUR},
    {"dtype": "float32", "shape": [2**32, 2**32], "data": ""},
    {"dtype": "float64", "shape": [1], "data": FOUR},
    {"dtype": "bool", "shape": [4], "data": base64.b64encode(b"\2\3\xff\x80").decode()},
    {"dtype": "qint8", "shape": [4], "data": FOUR},
    {"dtype": "quint4x2", "shape": [8], "data": FOUR},
    {"dtype": "bits8", "shape": [4], "data": FOUR},
    {"dtype": "float32", "shape": [1.0], "data": FOUR},
    {"dtype": "float32", "shape": [True], "data": FOUR},
    {"dtype": "float32", "shape": [1], "data": "=" * 1_000_000},
    {"dtype": "float32", "shape": [1], "data": "AAAAAA==" * 100_000},
    {"dtype": "float32", "shape": "1", "data": FOUR},
    {"dtype": "__class__", "shape": [1], "data": FOUR},
    {"dtype": "float32", "shape": [1] * 64, "data": FOUR},
    {"dtype": "float32", "shape": [2_000_000], "data": base64.b64encode(bytes(8_000_000)).decode()[:7_000_000]},
    {"given": "weight"},
    {"unknown": "x" * 1_000_000},
    {"pickle": FOUR},
)


def forged(observation):
    for entry in ENTRIES:
        told = {**entry, "parameter": False, "requires_grad": True}
        yield computing(observation, call("torch.add", {"tensor": 0}, {"tensor": 0}), tensors=[told])
        yield computing(observation, call("torch.add", {"tensor": 0}, 1), tensors=[entry] * 2)
