r"""A buffer can be given a Proxy while you trace.

Before {since}, the assignment raised a `TypeError`, so that the mistake was seen while you traced. Where it is allowed,
the buffer of your model is a Proxy afterwards: trace a copy.

Explains:
    cannot assign 'torch\.fx\.proxy\.Proxy
"""

import torch
from torch import fx, nn


class Tracking(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(1))

    def forward(self, x):
        self.mean = self.mean + x
        return self.mean


try:
    fx.symbolic_trace(Tracking())
    print("allowed")
except TypeError:
    print("TypeError")
