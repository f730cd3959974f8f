"""ReLU in every spelling, and calls with similar names."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage

from ..cases import Classifier, rows


class FourSpellings(nn.Module):
    """An MLP with ReLU as a method, a torch function, a functional and a module."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(4))
        self.activation = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        first, second, third, fourth = self.layers
        x = first(x).relu()
        x = torch.relu(second(x))
        x = nn.functional.relu(third(x))
        return self.activation(4 * fourth(x))


class Residual(nn.Module):
    """Containers with a ReLU inside, one called twice; two relatives of ReLU; a layer in eval mode named ``relu``."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Sequential(nn.Linear(5, 5), nn.ReLU(inplace=True))
        self.block = nn.Sequential(nn.Linear(5, 5), nn.ReLU(), nn.Linear(5, 5))
        self.relu = nn.Linear(5, 5).eval()
        self.bound = nn.ReLU6()

    def forward(self, x: Tensor) -> Tensor:
        x = self.enter(x)
        x = x + self.block(x)
        x = x + self.block(x)
        x = self.relu(nn.functional.relu(x, inplace=True))
        return torch.cat([nn.functional.leaky_relu(x, 0.2), self.bound(x)])


class ByName(nn.Module):
    """A ReLU function and a ReLU module that get their value by name; a constant, which the tracer stores."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Linear(4, 4)
        self.leave = nn.Linear(4, 4)
        self.activation = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        x = torch.tensor([0.5, -0.5, 0.25, 0.0]) + torch.relu(input=self.enter(x))
        return self.activation(input=self.leave(x))


class Methods(nn.Module):
    """Two ReLU methods, whose results are joined; a parametric and a leaky ReLU, which must stay; and a default."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Linear(4, 4)
        self.leave = nn.Linear(4, 4)
        self.bend = nn.LeakyReLU(0.4)
        self.slope = nn.Parameter(torch.tensor(0.3))

    def forward(self, x: Tensor, shift: float = 0.1) -> Tensor:
        x = self.enter(x).relu()
        return torch.cat([(self.bend(self.leave(x)).prelu(self.slope) + shift).relu(), x])


USAGE = Usage(
    "pass",
    cases=(
        Case("the classifier", Classifier, rows(4)),
        Case("an MLP with four spellings", FourSpellings, rows(6)),
        Case("a residual network", Residual, rows(5), unseen=True),
        Case("calls that pass the value by name", ByName, rows(4), unseen=True),
        Case("a ReLU as a method, twice", Methods, rows(4), unseen=True),
    ),
)
