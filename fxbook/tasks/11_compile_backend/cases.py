"""What the cases of chapter 11 share: models, and what `torch.compile` hands to a backend for each of them."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

ROWS, WIDTH = 2, 4
Capture = tuple[fx.GraphModule, list[Any]]


class FeedForward(nn.Module):
    """The model of the sheet: two layers, and a norm with buffers between them."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(WIDTH, 2 * WIDTH)
        self.norm = nn.BatchNorm1d(2 * WIDTH)
        self.down = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(functional.gelu(self.norm(self.up(x))))


def rows(*sizes: int) -> Callable[[], tuple[Tensor, ...]]:
    """Inputs with these numbers of rows."""
    return lambda: tuple(torch.randn(size, WIDTH) for size in sizes)


def capture(model: Callable[..., Any], *calls: tuple[Any, ...]) -> Capture:
    """The module and the example inputs of the last graph that a backend gets, called on each of the inputs in turn."""
    captured: list[Capture] = []

    def keep(module: fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        # A size is a SymInt, which belongs to the recording in progress.
        values = [value.node.hint if isinstance(value, torch.SymInt) else value for value in example_inputs]
        captured.append((copy.deepcopy(module), values))
        return module.forward

    torch.compiler.reset()
    compiled = torch.compile(model, backend=keep)
    for inputs in calls:
        compiled(*inputs)
    torch.compiler.reset()
    return captured[-1]


@functools.cache
def real(name: str) -> nn.Module:
    """A small model from `transformers`, made once: the library takes seconds to import. Copy it before changing it."""
    from fxbook.models import small

    return small(name)[0]


def part_of_llama() -> nn.Module:
    """The feed-forward part of the first layer of the real model; it takes rows of 32 numbers."""
    return copy.deepcopy(real("llama").model.layers[0].mlp)


@functools.cache
def pixels() -> Tensor:
    """An image that the real models take."""
    return torch.randn(1, 3, 32, 32)


class Logits(nn.Module):
    """A real model with a plain signature: one image in, one tensor out."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.inside = copy.deepcopy(real(name))

    def forward(self, image: Tensor) -> Tensor:
        return self.inside(pixel_values=image).logits
