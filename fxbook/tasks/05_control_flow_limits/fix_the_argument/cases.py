"""Models with an argument to fix."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage

from ..cases import Classifier


class Fixable(nn.Module):
    """A model with an argument to fix; stores the argument's name and the value."""

    name: str
    value: object


class Rounds(Fixable, Classifier):
    """The classifier of the chapter, whose number of rounds is to be fixed."""

    name, value = "times", 2


class Masked(Fixable):
    """An optional mask, to be fixed at ``None``; an input with a default; an unused input with a similar name."""

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
    """A mode that is used twice, between inputs whose names also begin with ``mode``."""

    name, value = "mode", "mean"

    def forward(
        self, x: Tensor, y: Tensor, mode_gain: float = 2.0, mode: str = "max", mode_shift: float = 1.0
    ) -> Tensor:
        both = x * y if mode == "max" else x + y
        return (both.amax(dim=0) if mode == "max" else both.mean(dim=0)) * mode_gain + mode_shift


class Doubling(Fixable):
    """A flag, fixed at ``False``, before an unused input; a default that is used; names that end in ``_1``. The model's
    own assertion compares with 0, which equals ``False``.
    """

    name, value = "double", False

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(
        self, x_1: Tensor, double: bool = True, padding: Tensor | None = None, scale_1: Tensor | float = 0.5
    ) -> Tensor:
        torch._assert(x_1.shape[-1] % 4 == 0, "a multiple of four features was expected")
        x = self.mix(x_1) * scale_1
        return x * 2 if double else x


class Tempered(Fixable):
    """A float between inputs without a default; its name cannot be the name of a node."""

    name, value = "T", 0.5

    def forward(self, x: Tensor, T: float, y: Tensor) -> Tensor:  # noqa: N803
        x = x / T if T < 1 else x * T
        torch._assert(y.shape[0] == x.shape[0], "T needs equally many rows in x and y")
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
        fixable("a flag next to an unused input", Doubling, 1, unseen=True),
    ),
    # Makes a new string, so that a comparison with `is` fails.
    given=lambda model: (model, "".join(model.name), model.value),
)
