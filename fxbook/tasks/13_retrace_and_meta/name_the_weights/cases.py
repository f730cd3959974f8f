"""Graphs and what a retrace made of them: weights in another order, of equal numbers, with two names, in buffers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.fx.experimental.proxy_tensor import make_fx

from fxbook.asking import Case, Usage

from ..cases import WIDTH, Gated, gpt2, llama, tokens


class Equal(nn.Module):
    """Layers of equal numbers that run in a drawn order."""

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
    """Holds a buffer, and is no layer of torch: tracing goes into it."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("factor", torch.rand(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.factor


class Tied(nn.Module):
    """A weight with two names, a buffer of a module inside, and constants that tracing has stored."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(WIDTH, WIDTH)
        self.second = nn.Linear(WIDTH, WIDTH)
        self.second.weight = self.first.weight
        self.register_buffer("shift", torch.rand(WIDTH))
        self.inside = Scaled()
        self.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.second(self.inside(x) + self.shift) * torch.tensor(2.0)
        return self.first(hidden) + torch.tensor(0.5)


def with_retraced(model: nn.Module) -> tuple[Any, ...]:
    """The traced model, and the graph of its run."""
    traced = fx.symbolic_trace(model)
    return traced, make_fx(fx.Interpreter(traced).run)(tokens())


USAGE = Usage(
    "compute",
    cases=(
        Case("a block of Llama", llama, tuple),
        Case("layers of equal weights", Equal, tuple),
        Case("a block of GPT-2", gpt2, tuple, unseen=True),
        Case("a block with a buffer", Gated, tuple, unseen=True),
        Case("a weight with two names", Tied, tuple, unseen=True),
    ),
    given=with_retraced,
)
