"""A norm of a sum, in two widths."""

from __future__ import annotations

import torch
from torch import nn

from fxbook.cases import Case, Usage, eager

from ..cases import rows, trained


class ShiftedNorm(nn.Module):
    """``norm(x + bias).tanh()``."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.randn(width))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x + self.bias).tanh()


USAGE = Usage(
    "build",
    given=eager,
    cases=(
        Case("the shifted norm", lambda: trained(ShiftedNorm(4)), rows(4)),
        Case("a wider norm", lambda: trained(ShiftedNorm(7)), rows(7, 2), unseen=True),
    ),
)
