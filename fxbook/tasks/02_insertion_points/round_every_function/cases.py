"""Models that call functions, in a row and beside methods and layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.asking import Case, Usage

from ..cases import FeedForward, rows


class Rounding(nn.Module):
    """Calls of functions in a row, read twice, rounded already, and returned beside one another."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        scaled = torch.round(torch.mul(self.scale(x), 5.0))
        narrowed = torch.mul(scaled, 0.4)
        return torch.exp(narrowed) * torch.square(narrowed), (x.sigmoid() * 3.0)


USAGE = Usage(
    "edit",
    cases=(
        Case("the block of the chapter", FeedForward, rows()),
        Case("functions in a row, one of them `torch.round`", Rounding, rows(), unseen=True),
    ),
)
