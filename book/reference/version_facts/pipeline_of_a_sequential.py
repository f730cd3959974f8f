"""`torch.distributed.pipelining.pipeline` can split an `nn.Sequential` directly.

Before {since}, it raised a `RuntimeError`: `Child module … is not a descendant of parent module`. On those versions,
write a module that has each layer as an attribute and calls the layers one after the other. A module that calls the
`Sequential` is rejected too.

Explains:
    is not a descendant of parent module
"""

import torch
from torch import nn
from torch.distributed.pipelining import SplitPoint, pipeline

network = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
try:
    parts = pipeline(network, mb_args=(torch.ones(1, 2),), split_spec={"2": SplitPoint.BEGINNING})
    print("stages:", parts.num_stages)
except RuntimeError:
    print("RuntimeError")
