"""Graphs with concatenations between pairs: some can copy int8, and each of the others violates one condition."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed
from torch import fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.zoo import last_users_first

_aten = torch.ops.aten
_ops = torch.ops.quantized_decomposed
CAT = _aten.cat.default
PER_CHANNEL = _ops.dequantize_per_channel.default
QUANTIZE, DEQUANTIZE = _ops.quantize_per_tensor.default, _ops.dequantize_per_tensor.default
_NAMES = [
    f"{kind}_{what}"
    for kind in ("join", "both", "merge", "all", "one", "two")
    for what in ("rows", "parts", "heads", "left")
]
How = tuple[Any, ...]


def graph_with(*kinds: str, named: bool = True) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make a graph with a call of each kind, in random order.

    Unless ``named``, node names do not reveal the calls, and the last users are first in `users`.
    """

    def given(_: nn.Module) -> tuple[Any, ...]:
        while True:
            order = [kinds[i] for i in torch.randperm(len(kinds)).tolist()]
            names = [_NAMES[i] for i in torch.randperm(len(_NAMES)).tolist()]
            module = _graph_of(order, names)
            copies = [name for kind, name in zip(order, names, strict=False) if kind.startswith("copies")]
            if copies != sorted(copies):
                if not named:
                    last_users_first(module.graph)
                    for place, node in enumerate(module.graph.nodes):
                        node._rename(node.name if node.name in names else f"step_{place}")
                return (module,)

    return given


def _graph_of(kinds: list[str], names: list[str]) -> fx.GraphModule:
    graph = fx.Graph()
    x = graph.placeholder("x")
    tensors = graph.get_attr("scale"), graph.get_attr("zero")
    hows = [(*tensors, *_how()[2:]) if kind == "tensors" else _how() for kind in kinds]
    calls = [_call(graph, x, kind, how, name) for kind, how, name in zip(kinds, hows, names, strict=False)]
    results = []
    # The users come in the reverse order of the values that they use.
    for kind, how, call in reversed(list(zip(kinds, hows, calls, strict=True))):
        if kind == "unused":
            continue
        others = {"copies": [], "float user": [], "integer user": [], "list user": []}.get(kind, [how])
        if kind.startswith("result "):
            others = [_changed(how, kind.removeprefix("result "))]
        results += [_pair(graph, call, one) for one in [how, *others]]
        if kind == "float user":
            results.append(graph.call_function(_aten.relu.default, (call,)))
        if kind == "list user":
            results.append(graph.call_function(_aten.stack.default, ([call, call],)))
        if kind == "integer user":
            results.append(graph.call_function(DEQUANTIZE, (call, *how)))
    graph.output(tuple(results))
    return fx.GraphModule({name: torch.ones(()) for name in ("scale", "zero")}, graph)


def _call(graph: fx.Graph, x: fx.Node, kind: str, how: How, name: str) -> fx.Node:
    """A call with two or three tensors in its list."""
    hows = [how] * int(torch.randint(2, 4, ()))
    if kind.startswith("input "):
        hows[-1] = _changed(how, kind.removeprefix("input "))
    if kind.startswith("first "):
        hows[0] = _changed(how, kind.removeprefix("first "))
    if kind.startswith("inputs "):
        hows = [_changed(how, kind.removeprefix("inputs "))] * len(hows)
    tensors = [_pair(graph, x, one) for one in hows]
    match kind:
        case "copies one":
            tensors = [tensors[0]] * len(tensors)
            graph.call_function(_aten.relu.default, (tensors[0],))
        case "copies rescaled":
            for tensor in tensors:
                tensor.args[0].args = (x, *_changed(how, "scale"))
        case "integer input":
            tensors[-1] = tensors[-1].args[0]
        case "channel input":
            near = tensors[-1].args[0]
            scales, zeros = graph.get_attr("scale"), graph.get_attr("zero")
            tensors[-1] = graph.call_function(PER_CHANNEL, (near, scales, zeros, 0, *how[2:]))
        case "float input":
            tensors[-1] = graph.call_function(_aten.relu.default, (tensors[-1],))
    target = _aten.stack.default if kind == "another call" else CAT
    return graph.create_node("call_function", target, (tensors, int(torch.randint(2, ()))), name=name)


def _pair(graph: fx.Graph, x: fx.Node, how: How) -> fx.Node:
    """The two calls of a pair; if the scale and the zero point are nodes, they call the overload that takes tensors."""
    overload = "tensor" if isinstance(how[0], fx.Node) else "default"
    near = graph.call_function(getattr(_ops.quantize_per_tensor, overload), (x, *how))
    return graph.call_function(getattr(_ops.dequantize_per_tensor, overload), (near, *how))


def _how() -> How:
    return int(torch.randint(1, 40, ())) / 100, int(torch.randint(0, 50, ())), -128, 127, torch.int8


def _changed(how: How, what: str) -> How:
    """The arguments after the tensor, with another scale, zero point, upper bound or dtype."""
    scale, zero, low, high, dtype = how
    match what:
        case "scale":
            scale = 2 * scale
        case "near scale":
            scale = scale * (1 + 1e-9)
        case "zero":
            zero = zero + 1 + int(torch.randint(20, ()))
        case "bounds":
            high = high - 27
        case "dtype":
            dtype = torch.int16
    return scale, zero, low, high, dtype


_INPUTS = ("copies", "copies", "copies twice", "input scale", "input zero", "input bounds", "float input")
_RESULTS = ("copies", "copies twice", "result scale", "result zero", "result dtype", "float user", "unused")
_MIXED = ("first scale", "first zero", "inputs near scale", "inputs dtype", "result bounds", "channel input")
_ODD = ("copies one", "copies rescaled", "input bounds", "tensors", "another call", "integer input")
_USERS = ("integer user", "list user")
_nothing = functools.partial(nn.Module)

USAGE = Usage(
    "compute",
    cases=(
        Case("concatenations whose inputs differ", _nothing, tuple, given=graph_with(*_INPUTS)),
        Case(
            "concatenations whose users differ", _nothing, tuple, given=graph_with(*_RESULTS, *_USERS, "another call")
        ),
        Case(
            "more concatenations whose inputs differ",
            _nothing,
            tuple,
            unseen=True,
            given=graph_with(*_INPUTS, "copies"),
        ),
        Case(
            "concatenations of every kind",
            _nothing,
            tuple,
            True,
            graph_with("copies", *_RESULTS, *_MIXED, *_ODD, *_USERS, named=False),
        ),
    ),
)
