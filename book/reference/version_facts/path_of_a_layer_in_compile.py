r"""In the metadata from TorchDynamo, a layer is named by its path: `L['self'].layers.0`.

Before {since}, a layer in a list was named by the way it is stored: `L['self']._modules['layers']._modules['0']`. On
those versions, look for `['layers']._modules['0']`.

Explains:
    12_patterns\.ipynb: rms_norm \(32,\) 1e-06 \{\} =>
"""

import torch
from torch import nn

paths = []


class Layered(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(2, 2), nn.ReLU())])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def look(module, inputs):
    for node in module.graph.nodes:
        paths.extend(path for path, _ in node.meta.get("nn_module_stack", {}).values())
    return module


torch.compile(Layered(), backend=look)(torch.ones(1, 2))
print("yes" if any("layers.0" in path for path in paths) else "no")
