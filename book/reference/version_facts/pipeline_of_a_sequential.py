"""`torch.distributed.pipelining.pipeline` splits an `nn.Sequential` itself.

Before {since} it raised a `RuntimeError`, `Child module … is not a descendant of parent module`. Write a module
there that has each layer as an attribute of its own, and calls them one after the other: a module that calls the
`Sequential` is refused too.

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
