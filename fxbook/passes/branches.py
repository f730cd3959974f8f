"""What the branches of a graph give that the inputs do not take."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import fx

from fxbook.passes.calling import ordered
from fxbook.passes.trial import detached, kept


def conds_of(module: fx.GraphModule) -> list[fx.Node]:
    """The calls of ``torch.cond`` in the graph itself."""
    cond = torch.ops.higher_order.cond
    return [node for node in module.graph.nodes if node.op == "call_function" and node.target is cond]


def other_branches(module: fx.GraphModule, inputs: Sequence[Any]) -> Any:
    """What the module gives where each ``torch.cond`` takes the branch that it does not take.

    Raises:
        Exception: what the module raises then.
    """
    cond = torch.ops.higher_order.cond

    class Turning(fx.Interpreter):
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            if target is cond:
                taken = args[0]
                args = (~taken if isinstance(taken, torch.Tensor) else not taken, *args[1:])
            return super().call_function(target, args, kwargs)

    with kept(module), torch.no_grad():
        return detached(Turning(module).run(*ordered(module, copy.deepcopy(inputs))))
