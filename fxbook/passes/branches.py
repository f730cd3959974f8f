"""Run the branches of ``torch.cond`` that the inputs do not take."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import fx

from fxbook.passes.calling import ordered
from fxbook.passes.outcome import detached, kept

_DEEPEST = 4


def conds_of(module: fx.GraphModule) -> list[fx.Node]:
    return [node for node in module.graph.nodes if node.op == "call_function" and node.target is _cond()]


def ways_through(module: fx.GraphModule) -> Iterator[tuple[bool, ...]]:
    """Every combination of branches other than that of the inputs: for each depth, whether to switch branches."""
    depth = min(_depth(module), _DEEPEST)
    for way in range(1, 2**depth):
        yield tuple(bool(way >> at & 1) for at in range(depth))


def other_branches(module: fx.GraphModule, inputs: Sequence[Any], way: tuple[bool, ...]) -> Any:
    """The result of the module if each ``torch.cond`` at the depths in ``way`` takes its other branch; may raise."""
    with kept(module), torch.no_grad():
        return detached(_Turning(module, way).run(*ordered(module, copy.deepcopy(inputs))))


class _Turning(fx.Interpreter):
    def __init__(self, module: fx.GraphModule, way: tuple[bool, ...]) -> None:
        super().__init__(module)
        self.way = way

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target is not _cond():
            return super().call_function(target, args, kwargs)
        taken, if_true, if_false, *operands = args
        turned = bool(self.way) and self.way[0]
        branch = if_true if bool(taken) is not turned else if_false
        given = operands[0] if operands else ()
        if isinstance(branch, fx.GraphModule):
            return _Turning(branch, self.way[1:]).run(*given)
        return branch(*given)


def _depth(module: fx.GraphModule) -> int:
    inner = (
        getattr(module, argument.target)
        for node in conds_of(module)
        for argument in node.args[1:3]
        if isinstance(argument, fx.Node) and argument.op == "get_attr"
    )
    return max((1 + _depth(branch) for branch in inner if isinstance(branch, fx.GraphModule)), default=0)


def _cond() -> Any:
    return torch.ops.higher_order.cond
