"""What the cases of chapter 02 share: models and inputs."""

from __future__ import annotations

from collections.abc import Callable

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


class Passing(nn.Module):
    """Returns its input."""

    def forward(self, x: Tensor) -> Tensor:
        return x


class Joined(nn.Module):
    """The result of ``block`` is used in a list, by keyword, and twice by one node; it is also returned."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        value = self.block(x)
        joined = torch.cat([value, x, value * value], dim=-1)
        return torch.sub(joined, 1.0).sigmoid(), {"raw": value, "shifted": torch.add(input=value, other=1.0)}


def rows(count: int = 1, width: int = 4) -> Callable[[], tuple[Tensor, ...]]:
    """``count`` inputs of three rows."""
    return lambda: tuple(torch.randn(3, width) for _ in range(count))
