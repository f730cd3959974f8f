"""A traced module saves a buffer that the model does not save.

Tracing registers a buffer again if a `get_attr` node fetches it, so `persistent=False` is lost, and `state_dict()` has
one more entry. From {later} on, `persistent=False` is kept.
"""

import torch
from torch import fx, nn


class Shifted(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("shift", torch.ones(1), persistent=False)

    def forward(self, x):
        return x + self.shift


print(list(fx.symbolic_trace(Shifted()).state_dict()))
