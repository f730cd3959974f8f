"""Graphs whose weights must be spread over parts: layer weights, fetched weights, and the weights of a real model."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of

from ..cases import exported


class Tower(nn.Module):
    """Layers of random widths, separated by calls without weights; the largest layer is frozen."""

    def __init__(self) -> None:
        super().__init__()
        # The last layer is much larger than the others, so parts with equally many calls are never the best.
        sizes = [2, *torch.randint(10, 20, (5,)).tolist(), 400]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))
        self.layers[-1].requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(torch.relu(x))
        return x


class Fetched(nn.Module):
    """Two fetched weights: one is used three times; the other is used twice, once by keyword."""

    def __init__(self) -> None:
        super().__init__()
        first, second = one_of((40, 10), (10, 40), (24, 30))
        self.first, self.second = nn.Parameter(torch.rand(first, first)), nn.Parameter(torch.rand(second, second))

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        for _ in range(3):
            x = torch.tanh(x @ self.first)
        y = torch.matmul(input=y, other=self.second)
        return torch.exp(x), torch.cat([y, y @ self.second])


class Sized(nn.Module):
    """A weight for each keyword argument, with that name and size; a random factor multiplies all sizes.

    A weight named ``narrow`` is in half precision, and one named ``fixed`` is a buffer.
    """

    def __init__(self, **sizes: int) -> None:
        super().__init__()
        factor = one_of(1, 2, 3)
        self.kinds = tuple(sizes)
        for kind, size in sizes.items():
            weight = torch.rand(factor * size, dtype=torch.float16 if kind == "narrow" else torch.float32)
            if kind == "fixed":
                self.register_buffer(kind, weight)
            else:
                self.register_parameter(kind, nn.Parameter(weight))

    def forward(self, x: Tensor) -> list[Tensor]:
        return [getattr(self, kind).sin() for kind in self.kinds]


def half_precision() -> nn.Module:
    """The cut with the smallest largest part also has a much smaller part, so it is not the most even cut."""
    return Sized(narrow=22, first=11, second=20, third=4)


class Bytes(nn.Module):
    """Buffers of bytes, passed by keyword, in a list, by position, and to a layer without weights.

    The best cut is better than the next one by a single byte. ``backwards`` reverses the order of the calls.
    """

    def __init__(self, backwards: bool = False) -> None:
        super().__init__()
        self.backwards = backwards
        factor = one_of(1, 2, 3)
        for name, size in {"named": 4 * factor, "listed": 4 * factor, "single": 1, "clipped": 7 * factor}.items():
            self.register_buffer(name, torch.ones(size, dtype=torch.uint8))
        self.clip = nn.ReLU()

    def forward(self, x: Tensor) -> list[Tensor]:
        calls = [
            lambda: torch.neg(input=self.named),
            lambda: torch.cat([self.listed, x]),
            lambda: torch.neg(self.single),
            lambda: self.clip(self.clipped),
        ]
        return [call() for call in (reversed(calls) if self.backwards else calls)]


class Block(nn.Sequential):
    """Layers that the graph calls as one module."""


class Normed(nn.Module):
    """A norm in a block, then two layers; the norm's buffers are as large as its weights, but not persistent."""

    def __init__(self) -> None:
        super().__init__()
        width = 10 * one_of(1, 2, 3)
        self.norm = Block(nn.BatchNorm1d(width))
        for name, buffer in list(self.norm[0].named_buffers()):
            self.norm[0].register_buffer(name, buffer, persistent=False)
        self.down, self.up = nn.Linear(width, 3, bias=False), nn.Linear(3, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.up(self.down(self.norm(x)))


def two_layers() -> nn.Module:
    """Two layers of the same size, followed by calls without weights."""
    width = one_of(2, 3, 4)
    return nn.Sequential(nn.Linear(width, width), nn.Linear(width, width), nn.Tanh(), nn.Tanh())


def two_at_the_end() -> nn.Module:
    """A large layer, two calls without weights, and two layers that each need a part of their own."""
    width = one_of(4, 6, 8)
    last = nn.Linear(width, width - 1), nn.Linear(width - 1, width - 1)
    return nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Tanh(), *last)


def one_layer() -> nn.Module:
    """One layer with weights among calls without weights."""
    return nn.Sequential(nn.Tanh(), nn.Tanh(), nn.Linear(one_of(2, 3, 4), 3), nn.Tanh())


class Shared(nn.Module):
    """A large layer that is called before and after small layers; an embedding and a head with the same weight."""

    def __init__(self) -> None:
        super().__init__()
        width = one_of(8, 12, 16)
        self.words = nn.Embedding(30, width)
        self.big = nn.Linear(width, width)
        self.small = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(3))
        self.head = nn.Linear(width, 30, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.big(self.words(tokens))
        for layer in self.small:
            x = layer(x).relu()
        return self.head(self.big(self.big(x)))


class Tied(nn.Module):
    """Three layers that share one weight, then a larger layer; the first layer is called twice.

    The names of the other layers begin with the name of the first layer.
    """

    def __init__(self) -> None:
        super().__init__()
        width = one_of(8, 12, 16)
        sizes = {"up": width, "up_again": width, "up_once_more": width, "up_further": width + width // 2}
        for name, size in sizes.items():
            self.add_module(name, nn.Linear(width, size, bias=False))
        self.up_again.weight = self.up_once_more.weight = self.up.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.up_further(self.up_once_more(self.up_again(self.up(self.up(x)))))


class FetchingBuffers(fx.Tracer):
    """A Tracer that also records how buffers are fetched, and does not trace into a block."""

    proxy_buffer_attributes = True

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return isinstance(m, Block) or super().is_leaf_module(m, module_qualified_name)


def in_parts(*counts: int) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make the arguments of the answer: the traced model, and one of these numbers of parts."""
    return lambda model: (fx.GraphModule(model, FetchingBuffers().trace(model)), one_of(*counts))


def gpt2_in_parts(_: nn.Module) -> tuple[Any, ...]:
    """Make the arguments of the answer: the exported graph of GPT-2, and a number of parts."""
    return exported("gpt2"), one_of(2, 3)


USAGE = Usage(
    "compute",
    cases=(
        Case("layers of random widths", Tower, tuple, given=in_parts(3, 4)),
        Case("a layer that is called three times", Shared, tuple, given=in_parts(2, 3)),
        Case("fetched weights", Fetched, tuple, True, in_parts(2, 3)),
        Case("a weight in half precision", half_precision, tuple, True, in_parts(3)),
        Case("a buffer", lambda: Sized(fixed=90, first=30, second=50), tuple, True, in_parts(2)),
        Case("a layer with buffers", Normed, tuple, True, in_parts(2)),
        Case("single bytes by keyword, in a list and for a layer", Bytes, tuple, True, in_parts(2)),
        Case("GPT-2, exported", nn.Identity, tuple, True, gpt2_in_parts),
        Case("all weights in one call", one_layer, tuple, True, in_parts(2)),
        Case("more parts than layers", two_layers, tuple, True, in_parts(3)),
        Case("one weight in three layers", Tied, tuple, True, in_parts(2)),
        Case("one byte from the end", lambda: Bytes(backwards=True), tuple, True, in_parts(2)),
        Case("more parts than layers, with two layers at the end", two_at_the_end, tuple, True, in_parts(4)),
        Case("six equal weights", lambda: Sized(**dict.fromkeys("abcdef", 10)), tuple, True, in_parts(3)),
        Case("one part", one_layer, tuple, True, in_parts(1)),
        Case("as many parts as calls", one_layer, tuple, True, in_parts(4)),
    ),
)
