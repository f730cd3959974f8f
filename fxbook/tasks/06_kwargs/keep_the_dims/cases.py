"""Models with sums over one dimension, over several, and over all."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage

from ..cases import MoreSums, Sums, rows


class Zeros(nn.Module):
    """Sums over dimension 0 by name and by position, over a computed dimension, and over everything with ``keepdim``;
    two calls without users.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sum = nn.Bilinear(4, 4, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        total = x.sum()
        x.sum(1), x.cumsum(1)
        kept = (
            torch.sum(x, 0, False),
            x.sum(dim=0),
            torch.sum(x, dim=-1, keepdim=False, dtype=torch.float64),
            torch.sum(x, 1, keepdim=False),
        )
        others = (
            x.argmax(dim=0),
            x.sum_to_size(1, 4),
            total,
            self.sum(x, x),
            torch.sum(x, dim=None, keepdim=True),
            x.sum(dim=None, keepdim=False),
        )
        return *kept, x.sum(x.dim() - 1), *others


USAGE = Usage(
    "edit",
    cases=(
        Case("sums over one dimension and over all", Sums, rows()),
        Case("sums with other arguments", MoreSums, rows(), unseen=True),
        Case("sums over dimension 0", Zeros, rows(), unseen=True),
    ),
)
