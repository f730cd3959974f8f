"""Models with an argument to fix."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage

from ..cases import Classifier


class Fixable(nn.Module):
    """Has an argument to fix: its name, and the value."""

    name: str
    value: object


class Rounds(Fixable, Classifier):
    """The model of the four ways, whose number of rounds must be fixed."""

    name, value = "times", 2


class Masked(Fixable):
    """An optional mask, fixed at ``None``; then an input with a default, and an unused input with a similar name."""

    name, value = "mask", None

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(
        self, x: Tensor, mask: Tensor | None = None, shift: Tensor | float = 0.0, masked: Tensor | None = None
    ) -> Tensor:
        x = self.mix(x)
        return x + shift if mask is None else x * mask + shift


class Pooled(Fixable):
    """A mode that is used twice, between inputs whose names begin alike."""

    name, value = "mode", "mean"

    def forward(
        self, x: Tensor, y: Tensor, mode_gain: float = 2.0, mode: str = "max", mode_shift: float = 1.0
    ) -> Tensor:
        both = x * y if mode == "max" else x + y
        return (both.amax(dim=0) if mode == "max" else both.mean(dim=0)) * mode_gain + mode_shift


class Doubling(Fixable):
    """A flag before an unused input; a check in the model itself; a default that is used; and names that end in _1."""

    name, value = "double", True

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(
        self, x_1: Tensor, double: bool = False, padding: Tensor | None = None, scale_1: Tensor | float = 0.5
    ) -> Tensor:
        torch._assert(x_1.shape[-1] == 4, "four features were expected")
        x = self.mix(x_1) * scale_1
        return x * 2 if double else x


class Tempered(Fixable):
    """A float whose name is not a node's name, between inputs without a default."""

    name, value = "T", 0.5

    def forward(self, x: Tensor, T: float, y: Tensor) -> Tensor:  # noqa: N803
        x = x / T if T < 1 else x * T
        torch._assert(y.shape[0] == x.shape[0], "x and y must have equally many rows")
        return (x - y) * T


def fixable(name: str, build: type[Fixable], inputs: int, unseen: bool = False) -> Case:
    return Case(name, build, lambda: tuple(torch.randn(3, 4) for _ in range(inputs)), unseen=unseen)


USAGE = Usage(
    "pass",
    cases=(
        fixable("the classifier, two rounds", Rounds, 1),
        fixable("a mask fixed at None", Masked, 2, unseen=True),
        fixable("a mode fixed by its name", Pooled, 2, unseen=True),
        fixable("a temperature called T", Tempered, 2, unseen=True),
        fixable("a flag, beside an unused input", Doubling, 1, unseen=True),
    ),
    # Made again, so that no name is the same object as the parameter's.
    given=lambda model: (model, "".join(model.name), model.value),
)
