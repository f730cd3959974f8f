"""Give kernels tensors on the device `meta`, which have no memory, among others.

Harm: a kernel reads or writes at address 0, or at what lies there.
"""

import torch
from classroom.tests.sandbox.forging import call, computing, method, ref

PAIRS = (
    "add",
    "matmul",
    "cat",
    "where",
    "dot",
    "mv",
    "bmm",
    "maximum",
    "lerp",
    "masked_fill",
    "outer",
    "atan2",
    "isclose",
)


def forged(observation):
    empty = call("torch.zeros", [2, 3, 4], device=torch.device("meta"))
    for name in PAIRS:
        for one, two in ((ref(0), ref(1)), (ref(1), ref(0))):
            yield computing(observation, empty, call(f"torch.{name}", one, two))
            yield computing(observation, empty, call(f"torch.{name}", [one, two]))
            yield computing(observation, empty, method(name, one, two))
        yield computing(observation, empty, call(f"torch.ops.aten.{name}_", ref(0), ref(1)))
    for name in ("item", "tolist", "__bool__", "__int__", "__float__", "clone", "cpu", "__len__", "max", "sort"):
        yield computing(observation, empty, method(name, ref(1)))
    yield computing(observation, empty, call("operator.getitem", ref(0), ref(1)))
    yield computing(observation, empty, call("operator.setitem", ref(0), 0, ref(1)))
