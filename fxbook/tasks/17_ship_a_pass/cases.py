"""Shared by the exercises of chapter 17: blocks of real models with new random weights, and inputs for them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases.real import real, with_random_weights

WIDTH = 32


@functools.cache
def _blocks() -> dict[str, nn.Module]:
    """Blocks of models from `transformers`."""
    return {
        "bert": real("bert").bert.encoder.layer[0].output,
        "gpt2": real("gpt2").transformer.h[0].mlp,
        "resnet": real("resnet").resnet.encoder.stages[0].layers[0],
    }


def block_of(name: str) -> nn.Module:
    """A copy of a real model's block in eval mode, with new random weights."""
    return with_random_weights(_blocks()[name]).requires_grad_(False)


def bert() -> nn.Module:
    """From BERT: a linear layer, a dropout, the residual addition and a norm. The block takes two inputs."""
    return block_of("bert")


def gpt2() -> nn.Module:
    """From GPT-2: two layers, and between them GELU in eight operations."""
    return block_of("gpt2")


def resnet() -> nn.Module:
    """From ResNet: two convolutions with their norms, and a shortcut that does nothing."""
    return block_of("resnet")


def rows(*widths: int) -> Callable[[], tuple[Tensor, ...]]:
    """A function that makes an input for each width: two sentences of three tokens."""
    return lambda: tuple(torch.randn(2, 3, width) for width in widths)


def graph_of(model: nn.Module) -> fx.GraphModule:
    """The traced model, which a case passes to the answer."""
    return fx.symbolic_trace(model)


def change_of(before: dict[str, str], after: dict[str, str]) -> str | None:
    """The name of the first node that differs between two listings; ``None`` if they are equal."""
    rows: list[Any] = [*after.items()]
    first = next((name for (name, row), old in zip(rows, before.items(), strict=False) if (name, row) != old), None)
    if first is None and len(before) != len(after):
        longer = before if len(before) > len(after) else after
        return list(longer)[min(len(before), len(after))]
    return first
