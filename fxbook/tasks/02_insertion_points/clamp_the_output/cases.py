"""Models that return one tensor, with inputs that exceed the range at both ends."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.zoo import crowded_trace

from ..cases import FeedForward, Passing


def far_rows() -> tuple[Tensor, ...]:
    """One input of three rows, from far below zero to far above ten."""
    return (torch.linspace(-30, 30, 12).reshape(3, 4) + torch.randn(3, 4),)


def far_rows_of_float64() -> tuple[Tensor, ...]:
    """Like :func:`far_rows`, in ``float64``."""
    [numbers] = far_rows()
    return (numbers.double(),)


class Asserting(nn.Module):
    """Clamps another value, and asserts something about its result just before ``output``.

    The assertion fails if the result is clamped too early, or if the write, whose result no node uses, is deleted.
    """

    def forward(self, x: Tensor) -> Tensor:
        doubled, limit = x + x, torch.clamp(x, 600, 700)
        limit.div_(50)
        torch._assert(doubled.amax() > limit.amin(), "the largest number should be above 12")
        return doubled


USAGE = Usage(
    "edit",
    cases=(
        Case("the block of the chapter", FeedForward, far_rows),
        Case("a model that returns its input", Passing, far_rows, unseen=True),
        Case(
            "a model that asserts something about its result",
            Asserting,
            far_rows_of_float64,
            unseen=True,
            given=crowded_trace,
        ),
    ),
)
