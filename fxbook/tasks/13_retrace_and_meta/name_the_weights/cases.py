"""Graphs and their retraces: weights in another order, equal weights, weights with two names, buffers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.fx.experimental.proxy_tensor import make_fx

from fxbook.cases import Case, Usage
from fxbook.graph.given import Given

from ..cases import WIDTH, gpt2, llama, tokens


class Equal(nn.Module):
    """Layers with equal weights that run in a random order."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        for layer in self.layers:
            nn.init.eye_(layer.weight)
        self.requires_grad_(False)
        self.order = torch.randperm(4).tolist()

    def forward(self, x: Tensor) -> Tensor:
        for place in self.order:
            x = self.layers[place](x).tanh()
        return x


class Scaled(nn.Module):
    """A module that has a buffer and is not a leaf."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("factor", torch.rand(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.factor


class Kinds(nn.Module):
    """A weight with two names; buffers that share memory with a weight, one of the same shape; a buffer of integers;
    buffers of submodules; weights deep in a leaf; constants that tracing has stored; and a layer whose result nothing
    uses.
    """

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.unused = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.second.weight = self.first.weight
        self.register_buffer("row", self.first.weight.data[0])
        self.register_buffer("turned", self.first.weight.data.T)
        self.register_buffer("order", torch.randperm(WIDTH))
        self.inside, self.norm = Scaled(), nn.BatchNorm1d(WIDTH)
        self.leaf = nn.utils.parametrizations.weight_norm(nn.Linear(WIDTH, WIDTH))
        self.requires_grad_(False).eval()

    def forward(self, x: Tensor) -> Tensor:
        self.unused(x)
        hidden = self.second(self.inside(x)[..., self.order] + self.row) * torch.tensor(2.0)
        return self.leaf(self.norm(self.first(hidden).flatten(0, 1))) @ self.turned + torch.tensor(0.5)


def with_retraced(model: nn.Module) -> tuple[Any, ...]:
    """The traced model, with non-persistent buffers; and its retrace, without dead nodes but with their weights."""
    traced = fx.symbolic_trace(model)
    for module in traced.modules():
        module._non_persistent_buffers_set.update(module._buffers)
    lowered = make_fx(fx.Interpreter(traced).run)(tokens())
    lowered.graph.eliminate_dead_code()
    lowered.recompile()
    return traced, lowered


def with_changes(answer: Callable[..., Any], traced: fx.GraphModule, lowered: fx.GraphModule) -> dict[str, Any]:
    """What the answer returns, and what it has changed in the second module; the first module is always watched."""
    before = Given(lowered)
    returned = answer(traced, lowered)
    return {"returned": returned, "changed": before.changes()[:1]}


USAGE = Usage(
    "compute",
    cases=(
        Case("a block of Llama", llama, tuple),
        Case("layers with equal weights", Equal, tuple),
        Case("a block of GPT-2", gpt2, tuple, unseen=True),
        Case("weights of many kinds", Kinds, tuple, unseen=True),
    ),
    given=with_retraced,
    call=with_changes,
)
