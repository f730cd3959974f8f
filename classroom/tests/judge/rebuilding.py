"""A small model, traced, for the tests that rebuild graphs."""

from __future__ import annotations

import torch
from torch import fx, nn


class Model(nn.Module):
    """Layers with and without weights, and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
        self.register_buffer("shift", torch.arange(4.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.layers(x) + self.shift).sum(-1) * 2.0


def model() -> Model:
    torch.manual_seed(0)
    return Model()


def traced() -> fx.GraphModule:
    """The traced model without annotations, which have no effect and are not described."""
    module = fx.symbolic_trace(model())
    for node in module.graph.nodes:
        node.type = None
    module.recompile()
    return module
