"""The models of the exercises of chapter 04, and the functions that their graphs call."""

# No `from __future__ import annotations`: annotations that are strings are kept in the graph, and cannot be pickled.
import torch
from torch import Tensor, nn


class FeedForward(nn.Module):
    """The block of the chapter."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(4, 8)
        self.down = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(torch.relu(self.up(x)))


class Gated(nn.Module):
    """Two activations, a path through two modules, a parameter, and a result that is a tuple."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4)))
        self.scale = nn.Parameter(torch.rand(4) + 1.0)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        hidden = torch.relu(self.body(x)) * self.scale
        return hidden.sum(dim=-1), torch.relu(hidden - x)


class Plain(nn.Module):
    """Has nothing in it that an activation pass would change."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x).tanh()


class Mixed(nn.Module):
    """ReLU in four spellings, of which ``torch.relu`` is one."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.relu(self.first(x)) - nn.functional.relu(x)
        return torch.relu(hidden) + (hidden * x).relu()


class Chooses(nn.Module):
    """A module of one's own that cannot be traced into."""

    def forward(self, value: Tensor) -> Tensor:
        return magnitude(value)


class Noisy(nn.Module):
    """Adds noise, which is drawn in each call."""

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.rand_like(x)


class Wrapped(nn.Module):
    """A block inside a module that is no ``GraphModule``."""

    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.block = block

    def forward(self, x: Tensor) -> Tensor:
        return self.block(x)


# ---- functions that graphs call --------------------------------------------------------------------------------------


def double(value: Tensor) -> Tensor:
    """A function of one's own: loading a pickle traces into it."""
    return value * 2


def magnitude(value: Tensor) -> Tensor:
    """A function of one's own that cannot be traced into."""
    return value if value.sum() > 0 else -value


def refuses(value: Tensor) -> Tensor:
    """A function of one's own that raises."""
    raise ValueError(f"refused: {value.dim()} dimensions")


def declines(value: Tensor) -> Tensor:
    """Another one."""
    raise TypeError(f"declined: {value.dtype}")


def halve(value: Tensor) -> Tensor:
    """A function of one's own: loading a pickle traces into it."""
    return value / 2
