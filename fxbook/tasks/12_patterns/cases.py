"""What the cases of chapter 12 share: parts of real models, inputs, and how an answer is called."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, fx, nn

from fxbook.cases.real import real, with_random_weights

WIDTH = 32


def feed_forward() -> nn.Module:
    """A feed-forward block from GPT-2, with its GELU and new random weights."""
    return with_random_weights(real("gpt2").transformer.h[0].mlp)


def llama_layer() -> nn.Module:
    """A decoder layer from Llama, whose parts can be traced, with new random weights."""
    return with_random_weights(real("llama").model.layers[0])


def rows(count: int = 1, width: int = WIDTH) -> Callable[[], tuple[Tensor, ...]]:
    """Make ``count`` inputs of shape (2, 3, width): two sentences of three tokens each."""
    return lambda: tuple(torch.randn(2, 3, width) for _ in range(count))


def graph_of(model: nn.Module) -> tuple[fx.Graph]:
    """Pass the graph of the traced model."""
    return (fx.symbolic_trace(model).graph,)
