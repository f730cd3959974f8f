"""Traced modules with calls that are equal, equal after a swap of arguments, nearly equal, returned, or not pure."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.neighbours import near
from fxbook.cases.zoo import NUMBERS

PURE = {torch.sin, torch.exp, torch.add, torch.mul, torch.cat, operator.add, operator.mul, "sum", "abs"}
SYMMETRIC = {torch.add, torch.mul, operator.add, operator.mul}


class Formulas(nn.Module):
    """Two terms made of the same expressions, calls that become equal after a merge, and calls that are not pure."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        left = torch.sin(x).abs() * torch.exp(y)
        right = torch.exp(y) * torch.sin(x).abs()
        first, second = torch.clone(x), torch.clone(x)
        first.add_(1.0)
        joined = torch.cat([left, right], 0) + torch.cat((left, right), 0)
        return joined.sum() + (left + right).sum(0).sum(0) + (first - second).sum()


class Numbers(nn.Module):
    """Integer inputs, for which a constant of another type gives another dtype; the same keywords in two orders; calls
    that differ only in the name or the value of a keyword; two equal floats that are not the same object; and numbers
    that are easily confused.
    """

    def forward(self, x: Tensor, y: Tensor) -> tuple[Any, ...]:
        one, same, real = torch.add(x, 1), torch.add(x, 1), torch.add(x, 1.0)
        rows = torch.mul(x, y).view(2, 2)
        named = rows.sum(dim=0, keepdim=True) + rows.sum(keepdim=True, dim=0)
        placed = torch.add(x, y, alpha=2) * torch.add(x, y, alpha=3) + torch.add(y, x, alpha=2)
        either = (x + 1) * (1 + x) + (x + x) * (y + y) + torch.add(y, x) * torch.add(x, y)
        truth = torch.mul(x, True) * torch.mul(x, 1)
        kept = rows.sum(dim=0, keepdim=False) - rows.sum(dim=1, keepdim=True) / 2
        thrice = torch.add(y, other=2, alpha=3) - torch.add(y, other=3, alpha=2) / 2
        half, again = (torch.mul(y, float(text)) for text in ("0.5", "0.5"))
        total = rows.sum(1) - rows.sum([0, 1]) - rows.sum([0, True]) / 2
        numbers = [torch.add(y, number) - y / place for place, number in enumerate(NUMBERS, 2)]
        more = kept, thrice, half - again / 2, total, numbers
        return one * same, real, named, placed.sum(0), truth, placed.sum(dim=0) * 2 + either, more


class Results(nn.Module):
    """Groups of equal calls of which the graph returns one, several or all; calls on two results that both stay; and
    equal calls without users.
    """

    def forward(self, x: Tensor, y: Tensor) -> dict[str, Tensor]:
        torch.sin(y), torch.sin(y)
        inner = torch.exp(x).sum()
        both = torch.sin(x), torch.sin(x)
        sizes = [one.abs() / place for place, one in enumerate(both, 2)]
        late, later, last = torch.mul(y, 2), torch.mul(y, 2), torch.mul(y, 2)
        again, alone, early = torch.exp(x), torch.exp(x), torch.exp(y)
        pair, behind = (later, last, late.abs(), sizes), torch.exp(y).sum(0)
        return {"both": both, "inner": again * inner, "pair": pair, "alone": alone, "early": (early, behind)}


class Layers(nn.Module):
    """Layers named like methods, a method named like a function, and a chain that occurs twice."""

    def __init__(self) -> None:
        super().__init__()
        self.sum, self.abs = nn.Tanh(), nn.Softplus()

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        one = self.sum(x) + self.sum(x)
        two = self.abs(y) * self.abs(y)
        chain = torch.exp(torch.sin(torch.add(one, two)).abs())
        again = torch.exp(torch.sin(torch.add(one, two)).abs())
        methods = one.sin() + torch.sin(one) + one.sin()
        rows = torch.cat([one, two]) * torch.cat([two, one])
        return rows.sum(0) + chain * again + methods + (x + y) + (y + x)


class Each(nn.Module):
    """A pair of equal calls to each member of `PURE`, with swapped arguments for members of `SYMMETRIC`; a function and
    an operator that compute the same result, but are different calls; lists that begin or end alike; and pairs of calls
    that resemble calls to members of `PURE`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sines = near(torch.sin, on=(3, 3), without=("keyword", "writes"))
        self.sums = near(torch.Tensor.sum, on=(3, 3))

    def forward(self, x: Tensor, y: Tensor) -> tuple[Any, ...]:
        waves = torch.sin(x) - torch.sin(x) / 2
        powers = torch.exp(x) - torch.exp(x) / 3
        joined = torch.cat([x, y], 1) - torch.cat([x, y], 1) / 4 - torch.cat([x, x], 1) - torch.cat([y, y], 1)
        longer = torch.cat([x, y, y], 1)
        added, multiplied = torch.add(x, y) - torch.add(y, x) / 5, torch.mul(x, y) - torch.mul(y, x) / 6
        plus, times = (x + y) - (y + x) / 7, (x * y) - (y * x) / 8
        columns, sizes = x.sum(1) - x.sum(1) / 9, y.abs() - y.abs() / 10
        likes = [one(x) - one(x) / 11 for one in (*self.sines.values(), *self.sums.values())]
        return waves, powers, joined, longer, added, multiplied, plus, times, columns, sizes, *likes


def floats() -> tuple[Tensor, Tensor]:
    return torch.randn(3, 3), torch.randn(3, 3)


def whole() -> tuple[Tensor, Tensor]:
    return torch.randint(1, 9, (4,)), torch.randint(1, 9, (4,))


USAGE = Usage(
    "edit",
    cases=(
        Case("two equal formulas", Formulas, floats),
        Case("whole numbers", Numbers, whole),
        Case("results that are equal", Results, floats, unseen=True),
        Case("layers and methods with the same names", Layers, floats, unseen=True),
        Case("each pure call twice", Each, floats, unseen=True),
    ),
)
