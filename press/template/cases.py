"""A sum of one input with itself, at two sizes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage


class Doubled(nn.Module):
    """The expected computation."""

    def forward(self, x: Tensor) -> Tensor:
        return x + x


USAGE = Usage(
    "build",
    cases=(
        Case("the doubled input", Doubled, lambda: (torch.randn(3),)),
        Case("a table", Doubled, lambda: (torch.randn(2, 4),), unseen=True),
    ),
)
