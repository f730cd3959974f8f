"""Models that return one tensor, on inputs that leave the range on both sides."""

from __future__ import annotations

import torch
from torch import Tensor

from fxbook.asking import Case, Usage

from ..cases import FeedForward, Passing


def far_rows() -> tuple[Tensor, ...]:
    """One input of three rows, from far below zero to far above ten."""
    return (torch.linspace(-30, 30, 12).reshape(3, 4) + torch.randn(3, 4),)


USAGE = Usage(
    "edit",
    cases=(
        Case("the block of the chapter", FeedForward, far_rows),
        Case("a model that returns its input", Passing, far_rows, unseen=True),
    ),
)
