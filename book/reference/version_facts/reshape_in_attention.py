r"""An exported `nn.MultiheadAttention` joins its heads with one `reshape`.

Before {since}, it used a `contiguous` and a `view`, so the graph had one more node.

Explains:
    10_models_as_they_come\.ipynb: torch\.export a graph of 34 nodes, right
"""

import torch


class Attending(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(8, 2)

    def forward(self, x):
        return self.attention(x, x, x)[0]


graph = torch.export.export(Attending().eval(), (torch.ones(3, 2, 8),), strict=False).graph
print(sum(str(node.target).startswith("aten.reshape") for node in graph.nodes), "reshape")
