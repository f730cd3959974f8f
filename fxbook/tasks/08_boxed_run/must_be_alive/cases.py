"""Graphs of every kind of argument, one with a weight, and one whose nodes were moved."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.asking import Case, Usage

from ..cases import WIDTH, Attention, Mixed, Nested, Residual, Unused, graph_of, moved_graph_of, with_changes


class Weighted(nn.Module):
    """A layer, methods, and a weight that a node of its own fetches."""

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.to_hidden = nn.Linear(width, width)

    def forward(self, features: Tensor, shift: Tensor) -> Tensor:
        scaled = features * self.scale
        hidden = self.to_hidden(scaled).relu()
        return hidden.mul(self.scale) + shift


USAGE = Usage(
    "compute",
    cases=(
        Case("the gated mix", Mixed, tuple),
        Case("the attention of the chapter", Attention, tuple),
        Case("a residual, and an input that is returned", Residual, tuple, unseen=True),
        Case("values that no node reads", Unused, tuple, unseen=True),
        Case("values read in lists and by name", Nested, tuple, unseen=True),
        Case("a graph whose nodes were moved", Nested, tuple, unseen=True, given=moved_graph_of),
        Case("a graph that fetches a weight", Weighted, tuple, unseen=True),
    ),
    given=graph_of,
    call=with_changes,
)
