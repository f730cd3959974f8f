"""Fetch lists, numbers and texts of the model, and change them in place.

Harm: what the next case or the check reads is changed.
"""

from classroom.tests.sandbox.forging import PASS, call, computing, node, ref

EXERCISES = (PASS, "05-unroll-the-loop", "03-every-relu")
PATHS = (
    "training",
    "0.in_features",
    "0.training",
    "1.inplace",
    "layers",
    "sizes",
    "costs",
    "0.__constants__",
    "__constants__",
)
PATHS += (
    "0.out_features",
    "call_super_init",
    "T_destination",
    "dump_patches",
    "_version",
    "0._version",
    "0.T_destination",
)


def forged(observation):
    for path in PATHS:
        fetched = node("get_attr", path)
        for name in ("iadd", "imul", "iconcat", "setitem", "delitem", "ior", "iand"):
            yield computing(observation, fetched, call(f"operator.{name}", ref(1), [0]))
            yield computing(observation, fetched, call(f"operator.{name}", ref(1), 0, 0))
