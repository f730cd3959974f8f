"""A linear layer with a bias, and one without."""

from __future__ import annotations

from torch import nn

from fxbook.asking import Case, Usage, eager

from ..cases import rows

USAGE = Usage(
    "build",
    given=eager,
    cases=(
        Case("a linear layer", lambda: nn.Linear(4, 3), rows(4)),
        Case("a linear layer without a bias", lambda: nn.Linear(5, 2, bias=False), rows(5), unseen=True),
    ),
    returns=("GraphModule",),
)
