"""Graphs with matches of a pattern, and writes before, inside and after them; a pattern that writes; unused results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of


def pattern(x: Tensor) -> Tensor:
    """The pattern in all cases but one."""
    return torch.sigmoid(torch.exp(x))


def pattern_that_writes(x: Tensor, y: Tensor) -> Tensor:
    """A pattern with an in-place call. A matcher reaches its first node, ``tanh``, last."""
    scale = torch.tanh(x)
    return torch.exp(x).addcmul_(scale, y)


class Written(nn.Module):
    """The pattern, with writes at the given places, and calls whose names contain an underscore, but not at the end."""

    def __init__(self, *places: str, by: str = "method") -> None:
        super().__init__()
        self.places, self.by = places, by

    def at(self, place: str, value: Tensor) -> None:
        """Write to ``value`` if ``place`` is one of the places."""
        if place in self.places:
            _ = value.mul_(1.5) if self.by == "method" else torch.relu_(value)

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        self.at("before", x)
        inner = torch.exp(x)
        self.at("inside", x)
        gate = torch.sigmoid(inner)
        torch.clamp_min(y, 0.0)
        y.type_as(x)
        self.at("after", y)
        first = gate.add_(y) if "as the first user" in self.places else gate + y
        self.at("after the first user", x)
        return first, gate * x


class Several(nn.Module):
    """Three matches in random order: one is followed by a function that writes, one by ``__iadd__``, which writes, too,
    and one by ``out=None`` alone, which writes nothing; and a match whose result is only returned.
    """

    def __init__(self) -> None:
        super().__init__()
        self.kinds = one_of(("function", "", "method"), ("", "method", "function"), ("method", "function", ""))

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        results = []
        for kind in self.kinds:
            gate = torch.sigmoid(torch.exp(x))
            shifted = torch.neg(y, out=None)
            if kind == "function":
                torch.tanh_(y)
            elif kind == "method":
                x.__iadd__(1.0)
            results += [gate * shifted, gate]
        x.sub_(1.0)
        return *results, torch.sigmoid(torch.exp(y))


class Scaled(nn.Module):
    """Two matches of the pattern that writes; inside one of them, another node writes. A third match begins with
    ``exp`` instead of ``tanh``; the ``exp`` is followed by a write whose result is the value of a parameter.
    """

    def __init__(self) -> None:
        super().__init__()
        self.crossed = one_of((True, False), (False, True))

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        results = []
        for crossed in self.crossed:
            scale = torch.tanh(x)
            if crossed:
                y.add_(1.0)
            results.append(torch.exp(x).addcmul_(scale, y) - y)
        grown = torch.exp(x)
        shifted = y.add_(2.0)
        return *results, grown.addcmul_(torch.tanh(x), shifted) - y


class Unused(nn.Module):
    """Two matches whose results nothing uses: a write is inside one of them, and another write comes after both."""

    def __init__(self) -> None:
        super().__init__()
        self.crossed = one_of((True, False), (False, True))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        for crossed in self.crossed:
            inner = torch.exp(x)
            if crossed:
                y.add_(1.0)
            torch.sigmoid(inner)
        return x.mul_(2.0) + y


class Named(nn.Module):
    """Nothing writes, but the names of a layer and a weight end with an underscore."""

    def __init__(self) -> None:
        super().__init__()
        self.scale_ = nn.Parameter(torch.randn(4))
        self.act_ = nn.Tanh()

    def forward(self, x: Tensor) -> Tensor:
        gate = torch.sigmoid(torch.exp(x))
        return self.act_(x * self.scale_) + gate


def given(model: nn.Module) -> tuple[Any, ...]:
    """Pass the graph of the model and the graph of the pattern."""
    function = pattern_that_writes if isinstance(model, Scaled) else pattern
    return fx.symbolic_trace(model).graph, fx.symbolic_trace(function).graph


def given_moved(model: nn.Module) -> tuple[Any, ...]:
    """The same, after moving the second user of the result directly after it; ``users`` keeps its former order."""
    graph, pattern_graph = given(model)
    [result] = graph.find_nodes(op="call_function", target=torch.sigmoid)
    _, second = result.users
    result.append(second)
    return graph, pattern_graph


def filtered(answer: Callable[..., Any], graph: fx.Graph, pattern_graph: fx.Graph) -> list[Any]:
    """What the filter returns for each match, in match order."""
    return [answer(match, graph, pattern_graph) for match in SubgraphMatcher(pattern_graph).match(graph)]


USAGE = Usage(
    "compute",
    cases=(
        Case("a write between the match and its first user", lambda: Written("after"), tuple),
        Case("no write at all", Written, tuple),
        Case("a write inside the match", lambda: Written("inside"), tuple, unseen=True),
        Case("writes before and after", lambda: Written("before", "after the first user"), tuple, unseen=True),
        Case("a write before the match, and another after it", lambda: Written("before", "after"), tuple, unseen=True),
        Case("a first user that writes", lambda: Written("as the first user"), tuple, unseen=True),
        Case("a user moved before the write", lambda: Written("after"), tuple, unseen=True, given=given_moved),
        Case("a function that writes", lambda: Written("after", by="function"), tuple, unseen=True),
        Case("a layer and a weight whose names end with an underscore", Named, tuple, unseen=True),
        Case("results that nothing uses", Unused, tuple, unseen=True),
        Case("several matches", Several, tuple, unseen=True),
        Case("a pattern that writes", Scaled, tuple, unseen=True),
    ),
    given=given,
    call=filtered,
)
