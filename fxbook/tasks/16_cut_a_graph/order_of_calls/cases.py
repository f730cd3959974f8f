"""Graphs in which each call belongs to a part; for some, there is no order in which the parts can be called."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of

from ..cases import exported, gelu


class Chain(nn.Module):
    """Four calls, each on the result of the call before it."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.exp(torch.tanh(torch.cos(torch.sin(x))))


class Branches(nn.Module):
    """Two branches from one input, a value that nothing uses, and a fetched weight that both branches use."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x: Tensor) -> Tensor:
        left = torch.sin(x * self.scale)
        right = x.cos()
        torch.neg(right)
        return torch.stack(tensors=[left, torch.tanh(right * self.scale)])


class Beside(nn.Module):
    """A chain of four calls, and two calls beside it that share no value with it."""

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return torch.exp(torch.tanh(torch.cos(torch.sin(x)))), torch.relu(y), torch.abs(y)


class Gathered(nn.Module):
    """Three calls on one input, a call that uses their results in reverse order, and a call that nothing uses."""

    def forward(self, x: Tensor) -> Tensor:
        first, second, third = torch.relu(x), torch.cos(x), torch.sin(x)
        torch.exp(third)
        return torch.stack([third, second, first])


def parted(graph: fx.Graph, *parts: str) -> tuple[Any, ...]:
    """The graph, and a dict that maps each call to its part; calls in one part have equal, but separate strings."""
    calls = [node.name for node in graph.nodes if node.op.startswith("call_")]
    return graph, {name: f"part_{part}" for name, part in zip(calls, parts, strict=True)}


def chain(*choices: str) -> Any:
    """Make the arguments of the answer; the letters of a randomly chosen word are the parts of the calls."""
    return lambda model: parted(fx.symbolic_trace(model).graph, *one_of(*choices))


def listed(*places: int) -> Any:
    """Make the arguments of the answer: a chain of calls in parts d, c, b, a, and the dict in the order ``places``."""

    def given(model: nn.Module) -> tuple[Any, ...]:
        graph, parts = chain("dcba")(model)
        items = list(parts.items())
        return graph, dict(items[place] for place in places)

    return given


def by_support(_: nn.Module) -> tuple[Any, ...]:
    """Make the arguments of the answer: GPT-2's activation, with one part for the calls that a backend supports."""
    graph = gelu().graph
    refused = one_of("tanh", "pow", "add")
    calls = [node.name for node in graph.nodes if node.op.startswith("call_")]
    return parted(graph, *("eager" if refused in name else "backend" for name in calls))


def layers_of_gpt2(_: nn.Module) -> tuple[Any, ...]:
    """Make the arguments of the answer: GPT-2 in four parts, its two layers, the calls before, and the calls after."""
    graph = exported("gpt2").graph
    before, first, second, after = one_of(("w", "c", "b", "a"), ("b", "d", "a", "c"))
    parts, seen = [], False
    for node in graph.nodes:
        stack = str(node.meta.get("nn_module_stack"))
        seen = seen or "h.0" in stack
        if node.op.startswith("call_"):
            parts.append(first if "h.0" in stack else second if "h.1" in stack else after if seen else before)
    return parted(graph, *parts)


USAGE = Usage(
    "compute",
    cases=(
        Case("a chain in pieces", Chain, tuple, given=chain("aabb", "bbaa", "cabb", "bcaa")),
        Case("a part that the calls return to", Chain, tuple, given=chain("abaa", "abba", "aaba", "abab")),
        Case("a cycle of three parts", Chain, tuple, unseen=True, given=chain("cabc", "abca", "bcab")),
        Case("two branches", Branches, tuple, unseen=True, given=chain("acdaddb", "badbddc")),
        Case("branches that need each other", Branches, tuple, unseen=True, given=chain("ababbba", "abaacca")),
        Case("a cycle through a second input", Branches, tuple, unseen=True, given=chain("aaaabba", "ccaabba")),
        Case("a cycle after another part", Chain, tuple, unseen=True, given=chain("abcb", "acbc")),
        Case("parts that share no value", Beside, tuple, unseen=True, given=chain("dcefab", "edfgba")),
        Case("a part that needs two others", Gathered, tuple, unseen=True, given=chain("bacdb", "cbdac")),
        Case("a chain in reverse alphabetical order", Chain, tuple, unseen=True, given=listed(0, 3, 1, 2)),
        Case("no call", nn.Identity, tuple, unseen=True, given=chain("")),
        Case("GPT-2's activation, split by what a backend supports", nn.Identity, tuple, unseen=True, given=by_support),
        Case("two layers of GPT-2", nn.Identity, tuple, unseen=True, given=layers_of_gpt2),
    ),
)
