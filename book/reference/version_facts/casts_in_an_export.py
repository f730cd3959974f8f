r"""`torch.export` records `_assert_tensor_metadata` before a cast.

It does so for each `aten.to`, but not for `type_as`. Before {since}, it did not, so the graph had one node fewer for
each cast.

Explains:
    _assert_tensor_metadata(?! stays)
"""

import torch


class Cast(torch.nn.Module):
    def forward(self, x):
        return x.to(torch.float64)


graph = torch.export.export(Cast(), (torch.ones(2),), strict=False).graph
print("nodes:", sum("_assert_tensor_metadata" in node.name for node in graph.nodes))
