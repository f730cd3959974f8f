"""Ask for the overloads of listed operators that write into a tensor of the caller's, of another size.

Harm: a kernel writes more than there is room for.
"""

import torch
from classroom.tests.sandbox.forging import call, computing, ref

OVERLOADS = (
    "out",
    "Tensor_out",
    "Scalar_out",
    "names_out",
    "dim_out",
    "default_out",
    "grid_out",
    "_out",
    "self_out",
    "OUT",
)
OPERATORS = (
    "add",
    "cat",
    "sum",
    "matmul",
    "relu",
    "sort",
    "topk",
    "arange",
    "view",
    "expand",
    "native_dropout",
    "_softmax",
)


def forged(observation):
    small = call("torch.zeros", 1)
    for name in OPERATORS:
        for overload in OVERLOADS:
            yield computing(observation, small, call(f"torch.ops.aten.{name}.{overload}", ref(0), ref(0), out=ref(1)))
        for spelled in (f"torch.{name}", f"torch.ops.aten.{name}"):
            yield computing(observation, small, call(spelled, ref(0), ref(0), out=ref(1)))
            yield computing(observation, small, call(spelled, ref(0), out=ref(1)))
            yield computing(observation, small, call(spelled, [ref(0), ref(0)], out=ref(1)))
    narrow = call("operator.getitem", ref(0), (..., slice(0, 1)))
    whole = call("torch.zeros", 0, dtype=torch.int64)
    yield computing(observation, narrow, whole, call("torch.max", ref(0), 0, out=(ref(1), ref(2))))
    yield computing(observation, narrow, whole, call("torch.topk", ref(0), 2, out=(ref(1), ref(2))))
