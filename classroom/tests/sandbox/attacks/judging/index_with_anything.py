"""Index and assign with lists, masks, nothing seventy times, and places far outside.

Harm: memory outside of a tensor is read or written.
"""

import torch
from classroom.tests.sandbox.forging import call, computing, ref

FAR = 2**62
INDICES = (
    FAR,
    -FAR,
    10**300,
    (None,) * 70,
    (..., ...),
    [FAR],
    [[FAR, -FAR]],
    ([0, FAR], [FAR, 0]),
    slice(FAR, -FAR, FAR),
)
INDICES += (
    slice(None, None, -1),
    slice(None, None, 0),
    [True] * 99,
    [[True]],
    "x",
    0.5,
    1j,
    (0, 0, 0, 0),
    torch.Size([FAR]),
    range(10**6),
)
INDICES += (
    [],
    [[]],
    [0] * 100_000,
    (slice(None),) * 99,
    True,
    None,
    ((0, 1), (FAR, FAR)),
    {"dict": [["a", 1]]},
    [None],
    [...],
)


def forged(observation):
    for index in INDICES:
        yield computing(observation, call("operator.getitem", ref(0), index))
        yield computing(observation, call("operator.setitem", ref(0), index, ref(0)))
        yield computing(observation, call("operator.delitem", ref(0), index))
        held = call("torch.tensor", index) if isinstance(index, int | list) else call("torch.full", [3], -FAR)
        yield computing(observation, held, call("operator.getitem", ref(0), ref(1)))
        yield computing(observation, held, call("operator.setitem", ref(0), (ref(1), ref(1)), 1.0))
        yield computing(observation, held, call("torch.repeat_interleave", ref(0), ref(1), 0, output_size=3))
        yield computing(observation, held, call("torch.select", ref(0), 0, ref(1)))
