r"""`torch.compile` records a `match` with class patterns.

Before {since}, TorchDynamo did not know `MATCH_CLASS` and left the function to Python.

Explains:
    torch\.compile a graph of 3 nodes, right => torch\.compile 0 graphs
"""

import torch

graphs = []


def doubled(x):
    match x:
        case torch.Tensor():
            return x * 2
    return x


torch.compile(doubled, backend=lambda module, inputs: graphs.append(module) or module)(torch.ones(2))
print("graphs:", len(graphs))
