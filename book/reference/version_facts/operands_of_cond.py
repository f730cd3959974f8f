r"""`torch.export` records the operands of `torch.cond` as a tuple.

Before {since}, it recorded a list. Write `list(node.args[3])`, which works on every version.

Explains:
    \(%linear,\)\), kwargs
"""

import torch


class Chosen(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))


graph = torch.export.export(Chosen(), (torch.ones(3),)).graph
[call] = [node for node in graph.nodes if "cond" in str(node.target)]
print("tuple" if isinstance(call.args[3], tuple) else "list")
