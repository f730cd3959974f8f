r"""`FlopCounterMode` can run a graph that contains `torch.cond`.

Before {since}, it raises a `NotImplementedError`, as every `TorchDispatchMode` does, whatever its settings. The message
calls the operator a `HOP`.

Explains:
    There was no rule registered for HOP
    aten\.relu
    passed to _will_engine_execute_node
"""

import torch
from torch.utils.flop_counter import FlopCounterMode


class Chosen(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))


chosen = torch.export.export(Chosen(), (torch.ones(3),)).module()
try:
    with FlopCounterMode(display=False):
        chosen(torch.ones(3))
    print("runs")
except NotImplementedError as error:
    print("NotImplementedError" if "no rule registered" in str(error) else error)
