"""Linear layers with and without a bias, one with a frozen weight in float64; inputs of several shapes."""

from __future__ import annotations

import torch
from torch import nn

from fxbook.cases import Case, Usage, eager

from ..cases import rows, with_its_gradients


def half_frozen() -> nn.Module:
    """A ``float64`` layer whose weight is frozen."""
    layer = nn.Linear(3, 2, dtype=torch.float64)
    layer.weight.requires_grad_(False)
    return layer


def without_effect() -> nn.Module:
    """A layer whose bias is all zeros, but trainable."""
    layer = nn.Linear(3, 2)
    nn.init.zeros_(layer.bias)
    return layer


USAGE = Usage(
    "build",
    given=eager,
    cases=(
        Case("a linear layer", lambda: nn.Linear(4, 3), rows(4)),
        Case("a linear layer without a bias", lambda: nn.Linear(5, 2, bias=False), rows(5), unseen=True),
        Case("an input with four dimensions", lambda: nn.Linear(3, 2), lambda: (torch.randn(2, 1, 4, 3),), unseen=True),
        Case("an input with one dimension, a bias of zeros", without_effect, lambda: (torch.randn(3),), unseen=True),
        Case("a frozen weight", half_frozen, lambda: (torch.randn(2, 3, dtype=torch.float64),), unseen=True),
    ),
    call=with_its_gradients,
    returns=("GraphModule",),
)
