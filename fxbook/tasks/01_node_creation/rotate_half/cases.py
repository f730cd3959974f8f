"""The rotation of halves, on two batches with different shapes and dtypes."""

from __future__ import annotations

import torch
from torch import nn

from fxbook.cases import Case, Usage


class RotateHalf(nn.Module):
    """Puts the second half of four columns, negated, before the first half."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([-x[..., 2:], x[..., :2]], dim=-1)


USAGE = Usage(
    "build",
    cases=(
        Case("rotation", RotateHalf, lambda: (torch.randn(2, 3, 4),)),
        Case(
            "a batch of a different shape",
            RotateHalf,
            lambda: (torch.randn(1, 5, 4, dtype=torch.float64),),
            unseen=True,
        ),
    ),
)
