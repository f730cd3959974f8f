"""Graphs with a pattern of two nodes, and writes before it, within it, behind it and behind its first user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

from fxbook.asking import Case, Usage
from fxbook.asking.exercise import one_of


def pattern(x: Tensor) -> Tensor:
    """What is looked for."""
    return torch.sigmoid(torch.exp(x))


class Written(nn.Module):
    """The pattern with a write at one place, or with none."""

    def __init__(self, *places: str, by: str = "method") -> None:
        super().__init__()
        self.places, self.by = places, by

    def at(self, place: str, value: Tensor) -> None:
        """Write here, if this is the place."""
        if place in self.places:
            _ = value.mul_(1.5) if self.by == "method" else torch.relu_(value)

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        self.at("before", x)
        inner = torch.exp(x)
        self.at("inside", x)
        gate = torch.sigmoid(inner)
        torch.neg(y)
        self.at("behind", y)
        first = gate + y
        self.at("after the first user", x)
        return first, gate * x


class Several(nn.Module):
    """Three matches: one that is crossed by a function that writes, one by nothing, one by a method, in an order that
    is drawn; and one that is returned at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self.kinds = one_of(("function", "", "method"), ("", "method", "function"), ("method", "function", ""))

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        results = []
        for kind in self.kinds:
            gate = torch.sigmoid(torch.exp(x))
            shifted = torch.neg(y)
            if kind == "function":
                torch.tanh_(y)
            elif kind == "method":
                x.add_(1.0)
            results += [gate * shifted, gate]
        x.sub_(1.0)
        return *results, torch.sigmoid(torch.exp(y))


class Named(nn.Module):
    """Nothing writes; a layer and a weight have names that end with an underscore."""

    def __init__(self) -> None:
        super().__init__()
        self.scale_ = nn.Parameter(torch.randn(4))
        self.act_ = nn.Tanh()

    def forward(self, x: Tensor) -> Tensor:
        gate = torch.sigmoid(torch.exp(x))
        return self.act_(x * self.scale_) + gate


def given(model: nn.Module) -> tuple[Any, ...]:
    """The graph of the model, and that of the pattern."""
    return fx.symbolic_trace(model).graph, fx.symbolic_trace(pattern).graph


def ask(answer: Callable[..., Any], graph: fx.Graph, wanted: fx.Graph) -> list[Any]:
    """What the filter says of each match, in the order of the matches."""
    return [answer(match, graph, wanted) for match in SubgraphMatcher(wanted).match(graph)]


USAGE = Usage(
    "compute",
    cases=(
        Case("a write between the match and its first user", lambda: Written("behind"), tuple),
        Case("no write at all", Written, tuple),
        Case("a write within the match", lambda: Written("inside"), tuple, unseen=True),
        Case("writes before and after", lambda: Written("before", "after the first user"), tuple, unseen=True),
        Case("a function that writes", lambda: Written("behind", by="function"), tuple, unseen=True),
        Case("a layer and a weight with an underscore", Named, tuple, unseen=True),
        Case("several matches", Several, tuple, unseen=True),
    ),
    given=given,
    call=ask,
)
