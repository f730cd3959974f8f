"""Models with additions in every spelling, and with calls that only look like additions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn

from fxbook.cases import Case, Usage, traced
from fxbook.cases.neighbours import namesake

from ..cases import rows


class Residual(nn.Module):
    """A block with additions in the chapter's three spellings, and with other calls."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.bias = nn.Parameter(torch.randn(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.add(self.inner(x), self.bias)
        hidden = (torch.relu(hidden) * 2).add(x)
        return hidden + x - 1


class Sum(nn.Module):
    """A module that computes a sum; its trace is the submodule ``add`` of a model."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


class ManySums(nn.Module):
    """In-place additions, additions by keyword and with ``alpha``, and nodes that only look like additions."""

    def __init__(self) -> None:
        super().__init__()
        self.add = fx.symbolic_trace(Sum())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scaled = torch.add(x, x, alpha=2)
        plain = torch.add(scaled, x, alpha=1)
        named = torch.add(input=plain, other=x)
        called = self.add(named, x)
        placed = called.clone().add_(x)
        placed = torch.addcmul(placed, x, x).addcdiv(x, x.exp())
        weighted = torch.add(placed.add(x, alpha=3), x, alpha=0)
        return 1 + weighted.sub(x)


def many_sums(model: nn.Module) -> tuple[fx.GraphModule]:
    """The trace of ``ManySums``, with its submodule as a leaf, a ``+=``, and a node with a misleading name."""

    class Whole(fx.Tracer):
        def is_leaf_module(self, module: nn.Module, path: str) -> bool:
            return isinstance(module, fx.GraphModule)

    graph = Whole().trace(model)
    output = graph.output_node()
    with graph.inserting_before(output):
        doubled = graph.call_function(operator.iadd, (output.args[0], 1))
        # call_function takes a name from torch 2.8 on.
        result = graph.create_node("call_function", torch.mul, (doubled, 2), name="add_total")
    output.args = (result,)
    return (fx.GraphModule(model, graph),)


class Weighted(nn.Module):
    """Additions with several values of ``alpha``, one of them in place; another function named ``add``; a dead sum; a
    sum with a size, and one with ``out``. The input is called ``add_``, and a parameter ``add``.
    """

    def __init__(self) -> None:
        super().__init__()
        self.add = nn.Parameter(torch.randn(4))

    def forward(self, add_: torch.Tensor) -> torch.Tensor:
        x = add_
        plain = torch.add(x, x, alpha=1.0)
        weighted = torch.add(plain, x, alpha=1.5)
        placed = weighted.sub(1).add_(x, alpha=2)
        placed + namesake("add")(placed)
        scaled = torch.add(placed, x, alpha=-1) * (x.size(-1) + self.add)
        return torch.add(scaled, x, out=scaled.clone())


class NodeOfACopy:
    """Replaces a listed node of another graph, which may share its name with a node of the given graph."""


def nodes_of_copies_marked(answer: Any, gm: fx.GraphModule) -> Any:
    """What the answer returns; if it is a list, a ``NodeOfACopy`` replaces each node that is not in the given graph."""
    graph = gm.graph
    listed = answer(gm)
    if not isinstance(listed, list | tuple):
        return listed
    return [NodeOfACopy() if isinstance(node, fx.Node) and node.graph is not graph else node for node in listed]


class RandomSums(nn.Module):
    """Random steps, some of them additions in various spellings."""

    def __init__(self) -> None:
        super().__init__()
        self.order = tuple(torch.randint(len(_STEPS), (12,)).tolist())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        value = x
        for place in self.order:
            value = _STEPS[place](value, x)
        return value


_STEPS: tuple[Callable[[torch.Tensor, torch.Tensor], torch.Tensor], ...] = (
    lambda value, x: value + x,
    lambda value, x: 2 + value,
    lambda value, x: torch.add(value, x),
    lambda value, x: torch.add(value, x, alpha=1),
    lambda value, x: torch.add(input=value, other=x, alpha=2),
    lambda value, x: value.add(x),
    lambda value, x: value.clone().add_(1.0),
    lambda value, x: value.add(x, alpha=3),
    lambda value, x: value.add(x, alpha=0),
    lambda value, x: value - x,
    lambda value, x: value.sum(dim=-1, keepdim=True) * x,
    lambda value, x: torch.mul(value, 2),
    lambda value, x: value.relu(),
)


USAGE = Usage(
    "compute",
    given=traced,
    cases=(
        Case("the residual block", Residual, rows(4)),
        Case("the block of many sums", ManySums, rows(4), unseen=True, given=many_sums),
        Case("a sum without users, among weighted sums", Weighted, rows(4), unseen=True),
        Case("a model of random steps", RandomSums, rows(4), unseen=True),
    ),
    call=nodes_of_copies_marked,
)
