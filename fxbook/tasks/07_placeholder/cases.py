"""What the cases of chapter 07 share: models with signatures of several kinds, and values for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn


class Weighting(nn.Module):
    """The model of the chapter."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(4, 1)

    def forward(self, rows: Tensor, mask: Tensor, sharpness: float = 1.0, *, names: Any = None) -> Tensor:
        scores = self.score(rows) * sharpness
        return rows * (scores + mask).softmax(0)


class Reserved(nn.Module):
    """Parameters whose nodes have other names, one without users, and one that may be ``None``."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(4, 4)

    def forward(self, input: Tensor, unread: Tensor, len: Tensor, scale: Any = None) -> Tensor:
        return self.project(input) * len


class Unread(nn.Module):
    """One input, neither the first nor the last, has no users."""

    def forward(self, rows: Tensor, unread: Tensor, other: Tensor) -> Tensor:
        return rows - other


def table() -> Tensor:
    """Rows as the model of the chapter takes them, the same each time."""
    return torch.arange(20.0).reshape(5, 4) / 20


def mask_of(*kept: bool) -> Tensor:
    """A column with 0 for a row to keep, -inf for a row to leave out."""
    return torch.tensor([[0.0 if keep else -torch.inf] for keep in kept])


def mask() -> Tensor:
    """A mask that leaves out one row."""
    return mask_of(True, True, False, True, True)


def column() -> Tensor:
    return torch.randn(5, 1)


def rows(*more: Callable[[], Any]) -> Callable[[], tuple[Any, ...]]:
    """Rows as the model of the chapter takes them, followed by what ``more`` makes."""
    return lambda: (torch.randn(5, 4), *(make() for make in more))


def with_late_input(place: int) -> Callable[[nn.Module], tuple[fx.GraphModule]]:
    """The traced model; its input at that position comes after the first step in the list."""

    def given(model: nn.Module) -> tuple[fx.GraphModule]:
        traced = fx.symbolic_trace(model)
        step = next(node for node in traced.graph.nodes if node.op not in ("placeholder", "output"))
        step.append(traced.graph.find_nodes(op="placeholder")[place])
        traced.recompile()
        return (traced,)

    return given


def no_interpreter(answer: Any) -> str | None:
    """What is wrong with an answer that is not an interpreter class."""
    if not isinstance(answer, type):
        return f"The answer is an object of class {type(answer).__name__}: pass your class itself, by its name"
    if not issubclass(answer, fx.Interpreter):
        return f"The class `{answer.__name__}` is not an fx.Interpreter"
    return None
