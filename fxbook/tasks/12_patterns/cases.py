"""What the cases of chapter 12 share: parts of real models, inputs, and how an answer that is data is used."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.models import small

WIDTH = 32


@functools.cache
def _model(name: str) -> nn.Module:
    """A model from `transformers`, made once per process: the import takes seconds."""
    return small(name)[0]


def feed_forward() -> nn.Module:
    """A feed-forward block from GPT-2, with its GELU and new random weights."""
    return _drawn(_model("gpt2").transformer.h[0].mlp)


def llama_layer() -> nn.Module:
    """A decoder layer from Llama, whose parts can be traced, with new random weights."""
    return _drawn(_model("llama").model.layers[0])


def _drawn(part: nn.Module) -> nn.Module:
    part = copy.deepcopy(part)
    with torch.no_grad():
        for weight in part.parameters():
            weight.copy_(torch.randn_like(weight) / 4)
    return part


def rows(count: int = 1, width: int = WIDTH) -> Callable[[], tuple[Tensor, ...]]:
    """``count`` inputs, each of two sentences with three tokens."""
    return lambda: tuple(torch.randn(2, 3, width) for _ in range(count))


def graph_of(model: nn.Module) -> tuple[fx.Graph]:
    """The graph of the model."""
    return (fx.symbolic_trace(model).graph,)


def with_changes(answer: Callable[..., Any], graph: fx.Graph) -> dict[str, Any]:
    """What the answer returns for a graph, and which of its nodes the answer has erased, rewired, moved or made."""
    before = _listing(graph)
    returned = answer(graph)
    after = _listing(graph)
    changed = [name for name, row in before.items() if after.get(name) != row]
    changed += [name for name in after if name not in before]
    if not changed and list(before) != list(after):
        changed = [next(new for new, old in zip(after, before, strict=True) if new != old)]
    return {"returned": returned, "changed": changed}


def _listing(graph: fx.Graph) -> dict[str, str]:
    return {node.name: f"{node.op} {node.target} {node.args} {node.kwargs}" for node in graph.nodes}
