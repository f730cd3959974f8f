"""Graphs of calls between pairs, with several kinds of inputs and users."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed
from torch import fx, nn

from fxbook.cases import Case, Usage

_aten = torch.ops.aten
_ops = torch.ops.quantized_decomposed
QUANTIZE, DEQUANTIZE = _ops.quantize_per_tensor.default, _ops.dequantize_per_tensor.default
PER_CHANNEL, LINEAR = _ops.dequantize_per_channel.default, _aten.linear.default
_BOUNDS = -128, 127, torch.int8
_HOW = {
    "pair": (QUANTIZE, DEQUANTIZE, (0.05, 0, *_BOUNDS)),
    "tensor": (_ops.quantize_per_tensor.tensor, _ops.dequantize_per_tensor.tensor, ("scale", "zero", *_BOUNDS)),
    "channel": (_ops.quantize_per_channel.default, PER_CHANNEL, ("scale", "zero", 0, *_BOUNDS)),
}
# An operator, the kinds of its inputs (``other=pair`` is a keyword argument), and the kinds of its users.
Call = tuple[Any, str, str]
_FEW: tuple[Call, ...] = (
    (_aten.relu.default, "pair", "pair"),
    (LINEAR, "pair channel weight", "pair"),
    (LINEAR, "pair weight", "pair"),
    (_aten.cat.default, "pair pair", "pair"),
    (_aten.cat.default, "pair float", "pair"),
    (_aten.add.Tensor, "float pair", "pair"),
    (_aten.scalar_tensor.default, "", "pair"),
    (_aten.neg.default, "pair", ""),
    (_aten.exp.default, "pair", "pair float"),
)
_MORE: tuple[Call, ...] = (
    (_aten.tanh.default, "pair", "pair pair"),
    (LINEAR, "pair channel", "pair"),
    (LINEAR, "pair channel float", "pair"),
    (LINEAR, "float channel weight", "pair"),
    (_aten.addcmul.default, "pair pair weight", "pair"),
    (_aten.add.Tensor, "weight pair", "pair"),
    (_aten.add.Tensor, "pair other=pair", "pair"),
    (_aten.sub.Tensor, "pair other=float", "pair"),
    (_aten.abs.default, "pair", "pair dead"),
    (_aten.sub.Tensor, "pair input", "pair"),
    (_aten.mul.Tensor, "pair float", "pair"),
    (_aten.mul.Tensor, "pair tensor", "pair"),
    (_aten.matmul.default, "pair channel", "pair"),
    (_aten.sin.default, "pair", "pair tensor"),
    (_aten.cos.default, "pair", "channel"),
    (_aten.sigmoid.default, "pair", "float pair"),
    (_aten.sqrt.default, "pair", "output"),
)


def graph_of(calls: tuple[Call, ...], named: bool = True) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make a graph of these calls, in random order; unless ``named``, node names do not reveal the calls."""

    def given(_: nn.Module) -> tuple[Any, ...]:
        graph = fx.Graph()
        held = {"input": graph.placeholder("x")}
        held |= {name: graph.get_attr(name) for name in ("weight", "scale", "zero")}
        results = []
        for place in torch.randperm(len(calls)).tolist():
            operator, reads, users = calls[place]
            read = [_read(graph, held, kind) for kind in reads.split() if "=" not in kind]
            by_name = dict(kind.split("=") for kind in reads.split() if "=" in kind)
            named_inputs = {name: _read(graph, held, kind) for name, kind in by_name.items()}
            positional = (read,) if operator is _aten.cat.default else tuple(read) or (1.0,)
            call = graph.call_function(operator, positional, named_inputs)
            used = [(kind, call if kind == "output" else _use(graph, held, call, kind)) for kind in users.split()]
            results += [use for kind, use in used if kind != "dead"]
        graph.output(tuple(results))
        if not named:
            for place, node in enumerate(graph.nodes):
                node._rename(f"step_{place}")
        root = {name: torch.ones(4) for name in ("weight", "scale", "zero")}
        return (fx.GraphModule(root, graph),)

    return given


def _arguments(held: dict[str, fx.Node], how: Iterable[Any]) -> list[Any]:
    return [held.get(one, one) if isinstance(one, str) else one for one in how]


def _read(graph: fx.Graph, held: dict[str, fx.Node], kind: str) -> fx.Node:
    if kind not in _HOW:
        return graph.call_function(_aten.floor.default, (held["input"],)) if kind == "float" else held[kind]
    integers = held["weight"] if kind == "channel" else _use(graph, held, held["input"], kind)
    return graph.call_function(_HOW[kind][1], (integers, *_arguments(held, _HOW[kind][2])))


def _use(graph: fx.Graph, held: dict[str, fx.Node], call: fx.Node, kind: str) -> fx.Node:
    if kind not in _HOW:
        return graph.call_function(_aten.ceil.default, (call,))
    return graph.call_function(_HOW[kind][0], (call, *_arguments(held, _HOW[kind][2])))


USAGE = Usage(
    "compute",
    cases=(
        Case("calls between pairs", nn.Module, tuple, given=graph_of(_FEW)),
        Case("more kinds of calls", nn.Module, tuple, unseen=True, given=graph_of(_FEW + _MORE, named=False)),
    ),
)
