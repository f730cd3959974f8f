r"""While you trace, a Proxy can be assigned to a buffer.

Before {since}, the assignment raised a `TypeError`, so you saw the mistake while you traced. Where the assignment is
allowed, the buffer of your model is a Proxy afterwards: write into it in place.

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
