"""Graphs of operators with pairs on drawn edges, until some calls can run in int8 and some cannot."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

_aten = torch.ops.aten
_ops = torch.ops.quantized_decomposed
QUANTIZE, DEQUANTIZE = _ops.quantize_per_tensor.default, _ops.dequantize_per_tensor.default
_HOW = (0.05, 0, -128, 127, torch.int8)


class Branches(nn.Module):
    """A layer called twice, a concatenation, a sum with a parameter, and a call of parameters alone."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(4, 4)), nn.Parameter(torch.randn(4))

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        left = _aten.linear.default(x, self.weight, self.bias)
        right = _aten.linear.default(_aten.relu.default(y), self.weight)
        both = _aten.cat.default([left, right], 1)
        moved = _aten.add.Tensor(right, self.bias)
        size = _aten.abs.default(self.bias)
        return _aten.relu.default(both), _aten.mul.Tensor(moved, left), _aten.sub.Tensor(moved, size)


class Chain(nn.Module):
    """Calls in a row, of which some have a second user."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        first = _aten.relu.default(x)
        second = _aten.sigmoid.default(first)
        third = _aten.add.Tensor(second, first)
        fourth = _aten.cat.default([third, second, third])
        fifth = _aten.tanh.default(fourth)
        _aten.neg.default(fifth)
        return _aten.exp.default(fifth), third


def drawn(build: Callable[[], nn.Module]) -> Callable[[nn.Module], tuple[Any, ...]]:
    """The graph with pairs on most edges."""

    def given(_: nn.Module) -> tuple[Any, ...]:
        while True:
            module = fx.symbolic_trace(build())
            calls = [node for node in module.graph.nodes if node.op in ("placeholder", "call_function")]
            for node in calls:
                users = list(node.users)
                if users and torch.rand(()) < 0.8:
                    _add_pair(node, [user for user in users if torch.rand(()) < 0.9])
            quantized = [
                {read.target for read in node.all_input_nodes if read.op != "get_attr"} == {DEQUANTIZE}
                and {user.target for user in node.users} == {QUANTIZE}
                for node in calls
            ]
            if 1 < sum(quantized) < len(calls) and all(_is_near(node) for node in calls):
                module.recompile()
                return (module,)

    return given


def _is_near(node: fx.Node) -> bool:
    """Whether a call of parameters alone, or without users, fails in nothing else."""
    if node.target not in (_aten.abs.default, _aten.neg.default):
        return True
    reads = all(read.op == "get_attr" or read.target is DEQUANTIZE for read in node.all_input_nodes)
    return reads and all(user.target is QUANTIZE for user in node.users)


def _add_pair(node: fx.Node, users: list[fx.Node]) -> None:
    graph = node.graph
    with graph.inserting_before(node.next):
        near = graph.call_function(QUANTIZE, (node, *_HOW))
        far = graph.call_function(DEQUANTIZE, (near, *_HOW))
    for user in users:
        user.replace_input_with(node, far)


_nothing = functools.partial(nn.Module)

USAGE = Usage(
    "compute",
    cases=(
        Case("two branches", _nothing, tuple, given=drawn(Branches)),
        Case("a chain", _nothing, tuple, given=drawn(Chain)),
        Case("other branches", _nothing, tuple, unseen=True, given=drawn(Branches)),
        Case("another chain", _nothing, tuple, unseen=True, given=drawn(Chain)),
    ),
)
