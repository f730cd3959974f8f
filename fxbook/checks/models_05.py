"""The models on which the answers of chapter 05 are tried: most of them cannot be traced as they are."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

# ---- a branch to be written without if -------------------------------------------------------------------------------


class Centred(nn.Module):
    """The function of the first exercise, as a module."""

    def forward(self, x: Tensor) -> Tensor:
        if x.mean() > 0:
            return x - x.mean()
        return x


# ---- arguments to be fixed -------------------------------------------------------------------------------------------


class Fixable(nn.Module):
    """Has an argument to be fixed: its name, the value, and the arguments that are left."""

    name, value, left = "times", 2, ("x",)

    def asked(self, *inputs: Any) -> Any:
        """The model with the argument fixed; inputs that are not given have their defaults."""
        given = dict(zip(self.left, inputs, strict=False))
        return self(**given, **{self.name: self.value})


def unsure(scores: Tensor) -> Tensor:
    """Whether the mean confidence of a batch is below one half."""
    return scores.softmax(dim=-1).amax(dim=-1).mean() < 0.5


class Sharpen(nn.Module):
    """Multiplies scores by 1.5 until the batch is sure, four times at most; or as often as it is told."""

    def forward(self, scores: Tensor, times: int | None = None) -> Tensor:
        if times is not None:
            for _ in range(times):
                scores = scores * 1.5
            return scores
        for _ in range(4):
            if not unsure(scores):
                break
            scores = scores * 1.5
        return scores


class Classifier(Fixable):
    """The model of the four ways. Its weights are such that inputs of a given spread need a known number of rounds."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.body = nn.Linear(4, width)
        self.head = nn.Linear(width, 3)
        self.sharpen = Sharpen()
        with torch.no_grad():
            self.body.bias.zero_()
            self.head.bias.zero_()
            self.head.weight.div_(self.head(torch.relu(self.body(torch.randn(256, 4)))).std())

    def forward(self, x: Tensor, times: int | None = None) -> Tensor:
        return self.sharpen(self.head(torch.relu(self.body(x))), times)


class Masked(Fixable):
    """An optional mask, fixed at ``None``, which stands between two inputs."""

    name, value, left = "mask", None, ("x", "shift")

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(self, x: Tensor, mask: Tensor | None = None, shift: Tensor | float = 0.0) -> Tensor:
        x = self.mix(x)
        return x + shift if mask is None else x * mask + shift


class Pooled(Fixable):
    """A mode that is chosen by its name, and read twice."""

    name, value, left = "mode", "mean", ("x", "y")

    def forward(self, x: Tensor, y: Tensor, mode: str = "max") -> Tensor:
        both = x * y if mode == "max" else x + y
        return both.amax(dim=0) if mode == "max" else both.mean(dim=0)


class Doubling(Fixable):
    """A flag before an input that is never read, a check of its own, a default that is used, a name that ends in _1."""

    name, value, left = "double", True, ("x_1", "padding", "scale")

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(
        self, x_1: Tensor, double: bool = False, padding: Tensor | None = None, scale: Tensor | float = 0.5
    ) -> Tensor:
        torch._assert(x_1.shape[-1] == 4, "four features were expected")
        x = self.mix(x_1) * scale
        return x * 2 if double else x


# ---- modules to be kept whole ----------------------------------------------------------------------------------------


class Whole(nn.Module):
    """Knows the kind of module that is to be kept whole, and how many calls of each class the graph is to have."""

    kind: type[nn.Module] = Sharpen
    calls: ClassVar[dict[str, int]] = {"Sharpen": 1, "torch.nn.Linear": 2}


class Sharpened(Whole):
    """The model of the four ways."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 3)
        self.sharpen = Sharpen()

    def forward(self, x: Tensor, times: int | None = None) -> Tensor:
        return self.sharpen(self.head(torch.relu(self.body(x))), times)


class Annealed(Sharpen):
    """A subclass of the kind asked for, with another name."""

    def forward(self, scores: Tensor, times: int | None = None) -> Tensor:
        return super().forward(scores * 2.0, times)


class SharpenOnce(nn.Module):
    """Not of the kind asked for, though its name says so: it is to be traced into."""

    def forward(self, scores: Tensor) -> Tensor:
        return scores * 1.5


class Block(nn.Module):
    """A module of the user's own that is not to be kept whole; it has one that is."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(self.layer(x)) + x


class Nested(Whole):
    """The kind inside other modules, in a list, as a subclass, and called twice."""

    calls: ClassVar[dict[str, int]] = {"Sharpen": 3, "Annealed": 1, "torch.nn.Linear": 3, "torch.nn.Tanh": 1}

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(Sharpen()), Block(Annealed()), Block(SharpenOnce())])
        self.last = nn.Sequential(nn.Tanh(), Sharpen())

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return self.last[1](self.last(x))


class Tower(Whole):
    """Containers of torch, which tracing enters unless it is told not to."""

    kind = nn.Sequential
    calls: ClassVar[dict[str, int]] = {"torch.nn.Sequential": 2, "torch.nn.Linear": 1}

    def __init__(self) -> None:
        super().__init__()
        self.left = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.right = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Sigmoid()))
        self.join = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.join(torch.cat([self.left(x), self.right(x)], dim=-1))
