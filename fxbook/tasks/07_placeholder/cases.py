"""What the cases of chapter 07 share: models with different kinds of signatures, and inputs for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn


class Weighting(nn.Module):
    """The model from chapter 07."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(4, 1)

    def forward(self, rows: Tensor, mask: Tensor, sharpness: float = 1.0, *, names: Any = None) -> Tensor:
        scores = self.score(rows) * sharpness
        return rows * (scores + mask).softmax(0)


class Reserved(nn.Module):
    """Some nodes differ in name from their parameters; one input has no users, and one may be ``None``."""

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
    """Rows for the model of the chapter, with the same numbers each time."""
    return torch.arange(20.0).reshape(5, 4) / 20


def mask_of(*kept: bool) -> Tensor:
    """A column with 0 for each row to keep and -inf for each row to leave out."""
    return torch.tensor([[0.0 if keep else -torch.inf] for keep in kept])


def mask() -> Tensor:
    """A mask that leaves out one row."""
    return mask_of(True, True, False, True, True)


def column() -> Tensor:
    return torch.randn(5, 1)


def rows(*more: Callable[[], Any]) -> Callable[[], tuple[Any, ...]]:
    """Make the inputs: random rows, followed by one value from each function in ``more``."""
    return lambda: (torch.randn(5, 4), *(make() for make in more))


def with_late_input(place: int) -> Callable[[nn.Module], tuple[fx.GraphModule]]:
    """Pass the traced model, with its input at this position moved after the first step in the list."""

    def given(model: nn.Module) -> tuple[fx.GraphModule]:
        traced = fx.symbolic_trace(model)
        step = next(node for node in traced.graph.nodes if node.op not in ("placeholder", "output"))
        step.append(traced.graph.find_nodes(op="placeholder")[place])
        traced.recompile()
        return (traced,)

    return given


def no_interpreter(answer: Any) -> str | None:
    """Why an answer is not an interpreter class; ``None`` if it is one."""
    if not isinstance(answer, type):
        return f"The answer is an object of class {type(answer).__name__}: pass your interpreter class itself"
    if not issubclass(answer, fx.Interpreter):
        return f"The class `{answer.__name__}` is not an fx.Interpreter"
    return None
