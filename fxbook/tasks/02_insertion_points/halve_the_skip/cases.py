"""Models with additions that read an input, and some that do not."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage

from ..cases import FeedForward, rows


class TwoSkips(nn.Module):
    """Two inputs; additions that read none, one or two of them, one that reads an input twice."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        hidden = self.mix(x) + self.mix(residual)
        return (hidden + x) * (residual + x) + (x + x) * residual


class Scaled(nn.Module):
    """An input that no addition reads, before the one that is skipped; other spellings of addition; a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)
        self.shift = nn.Parameter(torch.randn(4))

    def forward(self, scale: Tensor, x: Tensor) -> Tensor:
        other = torch.add(x, 2.0) * x.add(scale)
        return (self.mix(x) + x) * scale + self.shift - (x + 1.0) * other


class SumOfInputs(nn.Module):
    """The first addition has two inputs, neither of which was halved before."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return (x + y) * y


USAGE = Usage(
    "edit",
    cases=(
        Case("the block of the chapter", FeedForward, rows()),
        Case("a model with two inputs", TwoSkips, rows(2), unseen=True),
        Case("an input that no addition reads", Scaled, rows(2), unseen=True),
        Case("a sum of two inputs", SumOfInputs, rows(2), unseen=True),
    ),
)
