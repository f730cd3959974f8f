"""Models with additions that use an input, and additions that do not."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.zoo import add_in_place, crowded_trace

from ..cases import FeedForward, rows


class TwoSkips(nn.Module):
    """Two inputs; additions that use neither, one or both of them, or one input twice."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        hidden = self.mix(x) + self.mix(residual)
        return (hidden + x) * (residual + x) + (x + x) * residual


class Scaled(nn.Module):
    """An input that no addition uses; other spellings of addition, one in place; a parameter; a method of an input.

    A value is changed in place by a call whose result no node uses.
    """

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)
        self.shift = nn.Parameter(torch.randn(4))

    def forward(self, scale: Tensor, x: Tensor) -> Tensor:
        other = add_in_place(torch.add(x, 2.0) * x.add(scale), x)
        other.mul_(0.5)
        mixed = (self.mix(x) + x) * scale + self.shift - (x + 1.0) * other
        return (mixed - x) + x.tanh()


class SumOfInputs(nn.Module):
    """The only addition uses two inputs."""

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return x + y, y * y


def rows_of_float64() -> tuple[Tensor, ...]:
    """Two inputs of three rows in ``float64``."""
    return tuple(value.double() for value in rows(2)())


USAGE = Usage(
    "edit",
    cases=(
        Case("the block of the chapter", FeedForward, rows()),
        Case("a model with two inputs", TwoSkips, rows(2), unseen=True, given=crowded_trace),
        Case("an input that no addition uses", Scaled, rows(2), unseen=True),
        Case("a sum of two inputs", SumOfInputs, rows_of_float64, unseen=True),
    ),
)
