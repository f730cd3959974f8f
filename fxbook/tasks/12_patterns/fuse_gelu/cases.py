"""Models with the formula of GELU: that of GPT-2, several, one that is used inside, and formulas that differ."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from fxbook.asking import Case, Usage

from ..cases import WIDTH, feed_forward, rows

ROOT = math.sqrt(2.0 / math.pi)


def gelu(x: Tensor, cubic: float = 0.044715) -> Tensor:
    """The formula as GPT-2 writes it."""
    return 0.5 * x * (1.0 + torch.tanh(ROOT * (x + cubic * torch.pow(x, 3.0))))


class Gated(nn.Module):
    """The formula on an input, twice in a row, and beside a tanh; one whose tanh is used elsewhere; one of another
    polynomial.
    """

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        first = gelu(gelu(x))
        both = gelu(self.mix(first)) * torch.tanh(y)
        step = torch.tanh(ROOT * (y + 0.044715 * torch.pow(y, 3.0)))
        seen = 0.5 * y * (1.0 + step)
        return both, seen, step, gelu(both, 0.2)


USAGE = Usage(
    "edit",
    cases=(
        Case("a block of GPT-2", feed_forward, rows()),
        Case("formulas in a row, one that is used inside, one of another polynomial", Gated, rows(2), unseen=True),
    ),
)
