"""Graphs of ATen operators, pairs of operators to swap, and a function that runs passes and compares their uuids."""

from __future__ import annotations

import builtins
import contextlib
import copy
import itertools
import os
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
from torch import Tensor, fx, nn
from torch._inductor.custom_graph_pass import CustomGraphPass
from torch.fx.experimental.proxy_tensor import make_fx

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of
from fxbook.cases.zoo import crowded

aten = torch.ops.aten


class Chain(nn.Module):
    """Operators with one argument: one is called twice in a row, and one has a name that begins with another's."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.sin(torch.sin(torch.relu(x))) * torch.cos(x.sinh())


class Sums(nn.Module):
    """Two overloads of one operator, and a call with a keyword."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.add(x.sum(-1, dtype=torch.float64), x.sum(), alpha=2) + x.mean(0)


def swap(*pairs: tuple[Any, Any], is_crowded: bool = False) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make the arguments of a call: the graph of the model, and a random pair of operators to swap."""

    def given(model: nn.Module) -> tuple[Any, ...]:
        module = make_fx(model)(torch.randn(3, 3))
        return crowded(module) if is_crowded else module, *one_of(*pairs)

    return given


def _others(old: Any, new: Any) -> list[tuple[Any, Any]]:
    """Pairs that need different uuids: this pair, this pair reversed, and pairs that differ from it in one operator.

    Some of these operators differ only in their overload or only in their library.
    """
    pairs = [(old, new), (new, old), (old, aten.tan.default), (aten.tan.default, new), (aten.sum.default, new)]
    namesake = getattr(torch.ops.prims, old.overloadpacket.__name__).default
    return [*pairs, (old, aten.sum.dim_IntList), (old, aten.sum.default), (namesake, new)]


def described(graph: fx.Graph) -> list[str]:
    """What each node calls, and its arguments; a node is written as its index, since the name of a new node varies."""
    places = {node: f"%{place}" for place, node in enumerate(graph.nodes)}
    parts = [(node.target, *fx.map_arg((node.args, node.kwargs), places.__getitem__)) for node in graph.nodes]
    return [f"{target}{args}{kwargs}" for target, args, kwargs in parts]


def used(answer: Callable[..., Any], module: fx.GraphModule, old: Any, new: Any) -> dict[str, Any]:
    """Facts about the answer's passes: the graph after a pass, and which of their uuids are equal.

    Raises:
        Exception: whatever the answer raises.
    """
    one, two = answer(old, new), answer(old, new)
    if not isinstance(one, CustomGraphPass):
        return {"kind": type(one).__name__}
    text = one.uuid()
    facts: dict[str, Any] = {"type": type(text).__name__, "again": two.uuid() == text == one.uuid()}
    graph = copy.deepcopy(module).graph
    one(graph)
    facts["nodes"] = described(graph)
    facts["after"] = one.uuid() == text
    others = {f"{first} to {second}": answer(first, second) for first, second in _others(old, new)}
    graph = copy.deepcopy(module).graph
    one(graph)
    facts["apart"] = one.uuid() == text and described(graph) == facts["nodes"]
    uuids = {pair: other.uuid() for pair, other in others.items()}
    facts["equal"] = [f"{one} and {two}" for one, two in itertools.combinations(uuids, 2) if uuids[one] == uuids[two]]
    with _another_process():
        facts["salted"] = "0x" in str(text) or answer(old, new).uuid() != text
    return facts


@contextlib.contextmanager
def _another_process() -> Iterator[None]:
    """Change hashes, addresses and the process id, as if the body ran in another process."""
    with contextlib.ExitStack() as stack:
        for place, name in ((builtins, "hash"), (builtins, "id"), (os, "getpid")):
            real = getattr(place, name)
            stack.enter_context(mock.patch.object(place, name, lambda *given, real=real: real(*given) + 1))
        yield


SIN_TO_COS, SIN_TO_TANH = (aten.sin.default, aten.cos.default), (aten.sin.default, aten.tanh.default)
USAGE = Usage(
    "compute",
    cases=(
        Case("a chain of operators", Chain, tuple, given=swap(SIN_TO_COS, SIN_TO_TANH)),
        Case("an operator that is not in the graph", Chain, tuple, True, swap((aten.exp.default, aten.log.default))),
        Case("two overloads", Sums, tuple, True, swap((aten.sum.dim_IntList, aten.mean.dim), is_crowded=True)),
    ),
    call=used,
)
