"""Graphs of ATen operators, operators to swap, and what passes for them do and say."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch._inductor.custom_graph_pass import CustomGraphPass
from torch.fx.experimental.proxy_tensor import make_fx

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of

aten = torch.ops.aten


class Chain(nn.Module):
    """One-argument operators, one of them twice in a row."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.sin(torch.sin(torch.relu(x))) * torch.cos(x)


class Sums(nn.Module):
    """Two overloads of one operator, and a keyword."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.add(x.sum(-1), x.sum(), alpha=2) + x.mean(0)


def swap(*pairs: tuple[Any, Any]) -> Callable[[nn.Module], tuple[Any, ...]]:
    """The graph of the model, and two operators to swap, drawn."""

    def given(model: nn.Module) -> tuple[Any, ...]:
        return make_fx(model)(torch.randn(3, 3)), *one_of(*pairs)

    return given


def _others(old: Any, new: Any) -> list[tuple[Any, Any]]:
    """Other pairs: the same in the other order, another overload, another operator, names that run into each other."""
    pairs = [(old, new), (new, old), (old, aten.tan.default), (aten.tan.default, new), (aten.sum.default, new)]
    return [*pairs, (old, aten.sum.dim_IntList), (old, aten.sum.default)]


def used(answer: Callable[..., Any], module: fx.GraphModule, old: Any, new: Any) -> dict[str, Any]:
    """What a pass makes of the graph, and the texts of passes for the same and for other operators.

    Raises:
        Exception: whatever the answer raises.
    """
    one, two = answer(old, new), answer(old, new)
    if not isinstance(one, CustomGraphPass):
        return {"kind": type(one).__name__}
    text = one.uuid()
    told: dict[str, Any] = {"type": type(text).__name__, "again": two.uuid() == text == one.uuid()}
    graph = copy.deepcopy(module).graph
    one(graph)
    told["nodes"] = [f"{node.name}: {node.target}{node.args}{node.kwargs}" for node in graph.nodes]
    told["after"] = one.uuid() == text
    texts = [(f"{first} to {second}", answer(first, second).uuid()) for first, second in _others(old, new)]
    told["equal"] = [
        f"{name} and {other}"
        for (name, said), (other, too) in itertools.combinations(dict(texts).items(), 2)
        if said == too
    ]
    numbers = {hash(old), hash(new), id(old), id(new), id(one), hash((old, new)), hash(str(old)), hash(str(new))}
    told["salted"] = "0x" in str(text) or any(str(number) in str(text) for number in numbers)
    return told


SIN_TO_COS, SIN_TO_TANH = (aten.sin.default, aten.cos.default), (aten.sin.default, aten.tanh.default)
USAGE = Usage(
    "compute",
    cases=(
        Case("a chain of operators", Chain, tuple, given=swap(SIN_TO_COS, SIN_TO_TANH)),
        Case(
            "one that is not in the graph", Chain, tuple, unseen=True, given=swap((aten.exp.default, aten.log.default))
        ),
        Case("two overloads", Sums, tuple, unseen=True, given=swap((aten.add.Tensor, aten.sub.Tensor))),
    ),
    call=used,
)
