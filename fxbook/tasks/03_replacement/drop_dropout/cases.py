"""Models with dropout of several kinds."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.neighbours import near
from fxbook.cases.zoo import crowded_trace

from ..cases import rows, with_its_graph


class Regular(nn.Module):
    """An MLP with dropout after each layer."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Sequential(nn.Linear(8, 3), nn.Dropout(0.2))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.drop(torch.relu(self.hidden(x))))


class Dropping(nn.Module):
    """Dropouts: one called several times, two in a row, one on an input, one with several users, one whose input is
    not the node before it, one with p=0, one in eval mode, one without users. These stay: an identity, dropouts of
    other kinds and spellings, another node without users, and a norm that is not called, but whose weight is used.
    """

    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.block = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.1), nn.Dropout(0.0), nn.LayerNorm(4))
        self.left = nn.Linear(4, 4)
        self.right = nn.Sequential(nn.Linear(4, 4), nn.Identity())
        self.rows = nn.Dropout1d(0.5)
        self.calm = nn.Dropout(0.4).eval()
        self.norm = nn.LayerNorm(4)
        self.near = near(nn.Dropout, 0.5, on=(1, 2, 3, 4), without=("keyword",))

    def forward(self, x: Tensor) -> dict[str, Any]:
        start = self.drop(x)
        hidden = self.drop(self.block(start))
        left, right = self.left(hidden), self.right(hidden)
        mixed = self.drop(left) + right
        joined = torch.cat([hidden, start, nn.functional.dropout(hidden * hidden, 0.3)], dim=-1)
        torch.exp(self.calm(joined))
        self.drop(mixed)
        others = [one(mixed.expand(1, 2, 3, 4)) for one in self.near.values()]
        return {"hidden": hidden, "joined": joined, "rows": self.rows(mixed) * self.norm.weight, "others": others}


USAGE = Usage(
    "edit",
    cases=(
        Case("an MLP with dropout", Regular, rows()),
        Case("a dropout called often, two in a row, other kinds", Dropping, rows(), unseen=True, given=crowded_trace),
    ),
    call=with_its_graph,
)
