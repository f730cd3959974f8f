"""What the cases of chapter 00 share: models, inputs, and a call to an answer that lists names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MappingView, MutableSequence
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases.exercise import one_of


class Classifier(nn.Module):
    """A classifier; no node uses ``auxiliary``."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.hidden = nn.Linear(4, width)
        self.head = nn.Linear(width, 3)
        self.auxiliary = nn.Linear(width, 1)
        self.temperature = nn.Parameter(torch.tensor(2.0))

    def forward(self, x: Tensor) -> Tensor:
        features = self.hidden(x).relu()
        return (self.head(features) / self.temperature).softmax(dim=-1)


class Recurrent(nn.Module):
    """Layers that do not run in their order of definition; one runs twice, one never runs, two are in a container."""

    def __init__(self) -> None:
        super().__init__()
        self.decode = nn.Linear(6, 5)
        self.unused = nn.Linear(6, 6)
        self.encode = nn.Sequential(nn.Linear(5, 6), nn.Tanh())
        self.step = nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        state = self.encode(x)
        return self.decode(self.step(self.step(state)))


class Dense(nn.Module):
    """A value with four users: one uses it twice, one uses it inside a list, and one by name."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        features = self.block(x)
        doubled = features + features
        joined = torch.cat([x, features], dim=-1)
        gated = torch.mul(input=doubled, other=features)
        return torch.cat([joined, gated.relu(), features.tanh()], dim=-1)


class Scale(nn.Module):
    """A user-defined module with two parameters, one of them unused."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(4))
        self.offset = nn.Parameter(torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gain


class Attending(nn.Module):
    """A ``torch.nn`` layer that contains another one, and a user-defined module, which tracing enters."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2)
        self.scale = Scale()

    def forward(self, x: Tensor) -> Tensor:
        mixed, _ = self.attention(x, x, x)
        return self.scale(mixed)


class NamedAlike(nn.Module):
    """Pairs of layers and parameters whose names begin alike.

    Only one of each pair is used. The input has the name of the unused parameter; a buffer is fetched once, and the
    used parameter twice.
    """

    def __init__(self) -> None:
        super().__init__()
        self.head2 = nn.Linear(4, 4)
        self.head = nn.Linear(4, 4)
        self.block = nn.ModuleDict({"head": nn.Linear(4, 4), "head2": nn.Linear(4, 4)})
        self.gain = nn.Parameter(torch.full((4,), 0.5))
        self.gain_of_old = nn.Parameter(torch.full((4,), 2.0))
        self.register_buffer("offset", torch.full((4,), 0.25))

    def forward(self, gain_of_old: Tensor) -> Tensor:
        value = self.block["head2"](self.head(gain_of_old).relu())
        return (value + self.offset) * self.gain - self.gain


class RandomLayers(nn.Module):
    """Layers with random names, called in random order; one is never called, and one is called twice."""

    def __init__(self) -> None:
        super().__init__()
        names = ("first", "query", "gate", "mix", "norm", "out", "lift", "left")
        chosen = [names[place] for place in torch.randperm(len(names))[:4].tolist()]
        for name in chosen:
            self.add_module(name, one_of(nn.Linear(4, 4), nn.LayerNorm(4)))
        called = chosen[1:] + chosen[1:2]
        self.order = tuple(called[place] for place in torch.randperm(len(called)).tolist())

    def forward(self, x: Tensor) -> Tensor:
        for name in self.order:
            x = self.get_submodule(name)(x).tanh()
        return x


def rows(width: int, count: int = 3) -> Callable[[], tuple[Tensor]]:
    """One input: ``count`` rows of ``width`` numbers."""
    return lambda: (torch.randn(count, width),)


def returned_as_list(answer: Any, *arguments: Any) -> Any:
    """What the answer returns; an iterator, a view, a deque or the keys of a dict become a list."""
    returned = answer(*arguments)
    return list(returned) if isinstance(returned, Mapping | MappingView | MutableSequence | Iterator) else returned
