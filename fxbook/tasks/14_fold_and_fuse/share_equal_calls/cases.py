"""Traced modules with calls that are equal, equal in another order, nearly equal, returned, or not pure."""

from __future__ import annotations

import operator

import torch
from torch import Tensor, nn

from fxbook.asking import Case, Usage

PURE = {torch.sin, torch.exp, torch.add, torch.mul, torch.cat, operator.add, operator.mul, "sum", "abs"}
SYMMETRIC = {torch.add, torch.mul, operator.add, operator.mul}


class Formulas(nn.Module):
    """The same expression in two terms, calls that become equal, and calls that are not pure."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        left = torch.sin(x).abs() * torch.exp(y)
        right = torch.exp(y) * torch.sin(x).abs()
        first, second = torch.clone(x), torch.clone(x)
        first.add_(1.0)
        joined = torch.cat([left, right], 0) + torch.cat((left, right), 0)
        return joined.sum() + (left + right).sum(0).sum(0) + (first - second).sum()


class Numbers(nn.Module):
    """Whole numbers: a constant of another type gives another dtype. Keywords in two orders."""

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        one, same, real = torch.add(x, 1), torch.add(x, 1), torch.add(x, 1.0)
        rows = torch.mul(x, y).view(2, 2)
        named = rows.sum(dim=0, keepdim=True) + rows.sum(keepdim=True, dim=0)
        placed = torch.add(x, y, alpha=2) * torch.add(x, y, alpha=3) + torch.add(y, x, alpha=2)
        either = (x + 1) * (1 + x) + (x + x) * (y + y) + torch.add(y, x) * torch.add(x, y)
        truth = torch.mul(x, True) * torch.mul(x, 1)
        return one * same, real, named, placed.sum(0), truth, placed.sum(dim=0) * 2 + either


class Results(nn.Module):
    """Equal calls that the graph returns, alone, together, and beside one that it does not return."""

    def forward(self, x: Tensor, y: Tensor) -> dict[str, Tensor]:
        inner = torch.exp(x).sum()
        both = torch.sin(x), torch.sin(x)
        late, later, last = torch.mul(y, 2), torch.mul(y, 2), torch.mul(y, 2)
        again = torch.exp(x)
        return {"both": both, "inner": again * inner, "pair": (later, last, late.abs()), "alone": torch.exp(x)}


class Layers(nn.Module):
    """Layers with the names of methods, a method with the name of a function, and a chain that is there twice."""

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
        Case("layers and methods of one name", Layers, floats, unseen=True),
    ),
)
