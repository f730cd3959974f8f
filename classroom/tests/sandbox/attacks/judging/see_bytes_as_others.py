"""Look at the bytes of a tensor as another type, of another size, at an odd place.

Harm: more bytes are seen than there are.
"""

import torch
from classroom.tests.sandbox.forging import call, computing, method, ref

TYPES = (torch.bool, torch.int8, torch.int64, torch.complex128, torch.bfloat16, torch.uint16, torch.uint64)


def forged(observation):
    for one in TYPES:
        yield computing(observation, method("view", ref(0), one))
        odd = call("operator.getitem", ref(0), (..., slice(1, None, 2)))
        yield computing(observation, odd, method("view", ref(1), one), method("clone", ref(2)))
        yield computing(observation, call("torch.ops.aten.view.dtype", ref(0), one), method("add", ref(1), ref(1)))
        yield computing(observation, method("expand", ref(0), 5, -1, -1, -1), method("view", ref(1), one))
