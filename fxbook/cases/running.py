"""Run a model on inputs the same way in both halves of a check: seeded, without gradients, on copies of the inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from fxbook.cases.exercise import Inputs, seeded
from fxbook.cases.values import Value, encode

# Far from the seeds of the inputs, so that noise drawn by a model is never the noise its inputs were drawn from.
_RUN = 1_000_003
# Of all values together: what is computed after so many elements is not told.
_MOST_ELEMENTS = 300_000
_Interpreter, _Tensor = fx.Interpreter, torch.Tensor


def run_on(call: Callable[..., Any], inputs: list[Inputs], seed: int) -> list[Any]:
    """What ``call`` returns for each tuple of inputs; dropout and other noise repeat for the same seed."""
    return [run_draw(call, arguments, seed, draw) for draw, arguments in enumerate(inputs)]


def run_draw(call: Callable[..., Any], arguments: Inputs, seed: int, draw: int) -> Any:
    """What ``call`` returns for the inputs of that draw."""
    copies = pytree.tree_map_only(torch.Tensor, torch.clone, arguments)
    with seeded(seed + _RUN + draw), torch.no_grad():
        return call(*copies)


def values_inside(module: fx.GraphModule, arguments: Inputs, seed: int, draw: int) -> list[Value]:
    """The value of each node, encoded as it is computed, in the order of the list.

    A node that did not run, or whose value is too large to tell, has ``None``.

    Raises:
        Exception: whatever running the graph raises.
    """
    keeping = _Keeping(module)
    keeping.extra_traceback = False
    run_draw(keeping.run, arguments, seed, draw)
    return [keeping.values.get(node) for node in module.graph.nodes]


class _Keeping(_Interpreter):
    """Keeps what each node gives, before a later one works in place on it."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.values: dict[fx.Node, Value] = {}
        self._elements = 0

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        self._elements += sum(leaf.numel() for leaf in pytree.tree_leaves(value) if isinstance(leaf, _Tensor))
        if self._elements <= _MOST_ELEMENTS:
            self.values[n] = encode(value)
        return value
