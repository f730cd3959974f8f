"""Models that add products."""

from __future__ import annotations

import operator

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.neighbours import near

from ..cases import rows, with_its_graph


class Affine(nn.Module):
    """Scales and shifts its input by two parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.randn(4))
        self.shift = nn.Parameter(torch.randn(4))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale + self.shift


class Products(nn.Module):
    """Sums with a product on either side, with two products, with a product and itself or its factor, with a square.

    A sum of two products has two users, one of which adds a product that was computed long before. Products to leave
    have other users (a sum, a product, or the result of the model), contain a number, are added to a number, are
    subtracted, or are not added at all. Other calls multiply and add, too.
    """

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)
        self.products = near(operator.mul, on=(4, 4), inputs=2, without=("writes",))
        self.sums = near(operator.add, on=(4, 4), inputs=2, without=("writes",))

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        first, early = self.mix(x * y + y), y * x
        shared = first * y
        second = shared + x
        doubled = x * x
        third = (doubled + doubled) * 2.0 + second
        total = third * first + first * first
        square = y * y
        fourth = total, y - x * x, square * x, total + early
        fifth = shared + x * x, 2.0 * second + y, y * y + 2.0 * third, x * y + 1.0
        others = [one(x, y) + y for one in self.products.values()] + [one(x * y, y) for one in self.sums.values()]
        shown = x * first
        return *fourth, *fifth, *others, square + first, shown + y, shown


def squares() -> tuple[Tensor, Tensor]:
    return torch.randn(4, 4), torch.randn(4, 4)


USAGE = Usage(
    "edit",
    cases=(
        Case("a scale and a shift", Affine, rows()),
        Case("products on the left and on the right, some with two users", Products, squares, unseen=True),
    ),
    call=with_its_graph,
)
