"""Sums over one dimension, over several and over all."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.asking import Case, Usage

from ..cases import MoreSums, Sums, rows


class Zeros(nn.Module):
    """Sums over the dimension 0, by name and by position, one with three keywords, and calls that are no sums."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return (
            torch.sum(x, 0, False),
            x.sum(dim=0),
            torch.sum(x, dim=1, keepdim=False, dtype=torch.float64),
            x.argmax(dim=0),
            x.sum_to_size(3, 1),
        )


USAGE = Usage(
    "edit",
    cases=(
        Case("sums over one dimension and over all", Sums, rows()),
        Case("sums with other arguments", MoreSums, rows(), unseen=True),
        Case("sums over the dimension 0", Zeros, rows(), unseen=True),
    ),
)
