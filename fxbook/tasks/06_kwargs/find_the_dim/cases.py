"""Models with sums over one dimension, over several, and over all."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage, traced

from ..cases import MoreSums, Sums, rows


class NamedSum(nn.Module):
    """An input and a layer named ``sum``, a method whose name begins with ``sum``, and a sum that no node uses."""

    def __init__(self) -> None:
        super().__init__()
        self.sum = nn.Linear(4, 4)

    def forward(self, sum: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.sum(sum)
        torch.sum(input=hidden)
        return hidden.sum(1), hidden.sum_to_size(1, 4)


USAGE = Usage(
    "compute",
    cases=(
        Case("sums over one dimension and over all", Sums, rows()),
        Case("sums with other arguments", MoreSums, rows(), unseen=True),
        Case("an input and a layer named sum", NamedSum, rows(), unseen=True),
    ),
    given=traced,
)
