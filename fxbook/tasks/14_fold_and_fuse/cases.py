"""Shared by the exercises of chapter 14: exported graphs, each exported once per process and copied for each case."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases.exercise import seeded
from fxbook.cases.exported import exported_graph


class Result(nn.Module):
    """A model from `transformers` that takes one tensor and returns one tensor."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        return self.model(x)[0]


@functools.cache
def real(name: str) -> tuple[nn.Module, Tensor]:
    """A model from `transformers`, which is imported only here, and its input. Copy the model before you change it."""
    from fxbook.models import small

    decodes = name in ("llama", "gpt2")
    model, inputs = small(name, **({"use_cache": False} if decodes else {}))
    return Result(model).eval(), *inputs.values()


@functools.cache
def _exported(build: Callable[[], tuple[nn.Module, Tensor]], functional: bool) -> fx.GraphModule:
    # Only the first case in a process gets here, and its random numbers must not change those of other cases.
    with seeded(0):
        model, x = build()
    return exported_graph(model, x, functional=functional)


def exported(build: Callable[[], tuple[nn.Module, Tensor]], functional: bool = False) -> fx.GraphModule:
    """A copy of the exported graph of a model, including ``meta``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return copy.deepcopy(_exported(build, functional))


def shuffled(items: list[Any]) -> list[Any]:
    """A list in a random order."""
    return [items[place] for place in torch.randperm(len(items)).tolist()]


def some(items: list[Any]) -> list[Any]:
    """A random part of a list: at least one item, but not all items if there are two or more."""
    count = int(torch.randint(1, max(2, len(items)), ()))
    return shuffled(items)[:count]
