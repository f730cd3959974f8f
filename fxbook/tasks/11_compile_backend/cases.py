"""What the cases of chapter 11 share: models, and what ``torch.compile`` passes to a backend for them."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from fxbook.cases.real import real

ROWS, WIDTH = 2, 4
Capture = tuple[fx.GraphModule, list[Any]]


class FeedForward(nn.Module):
    """The model of the exercises: two layers, and between them a norm that has buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(WIDTH, 2 * WIDTH)
        self.norm = nn.BatchNorm1d(2 * WIDTH)
        self.down = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(functional.gelu(self.norm(self.up(x))))


def rows(*sizes: int) -> Callable[[], tuple[Tensor, ...]]:
    """Make the inputs: for each of these sizes, a tensor with that many rows."""
    return lambda: tuple(torch.randn(size, WIDTH) for size in sizes)


def capture(model: Callable[..., Any], *calls: tuple[Any, ...]) -> Capture:
    """The last module and example inputs that a backend gets when the model is called with these inputs in turn."""
    captured: list[Capture] = []

    def keep(module: fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        # A SymInt is valid only during this compilation, so its number is kept.
        values = [value.node.hint if isinstance(value, torch.SymInt) else value for value in example_inputs]
        captured.append((copy.deepcopy(module), values))
        return module.forward

    torch.compiler.reset()
    compiled = torch.compile(model, backend=keep)
    for inputs in calls:
        compiled(*inputs)
    torch.compiler.reset()
    return captured[-1]


def part_of_llama() -> nn.Module:
    """The feed-forward block of the first layer of a small Llama; it takes rows of 32 numbers."""
    return copy.deepcopy(real("llama").model.layers[0].mlp)


@functools.cache
def pixels() -> Tensor:
    """An input for the real models for images, shape (1, 3, 32, 32)."""
    return torch.randn(1, 3, 32, 32)
