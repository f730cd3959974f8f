"""What the cases of chapter 01 share: inputs, and models as training leaves them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn


def rows(width: int, count: int = 3) -> Callable[[], tuple[Tensor]]:
    """A function that draws a batch of ``count`` rows."""
    return lambda: (torch.randn(count, width),)


def trained(model: nn.Module) -> nn.Module:
    """The model with random parameters: fresh norms are all ones and zeros, which would hide a mistake."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape))
    return model
