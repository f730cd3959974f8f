"""Find the nodes whose noted shape an edit has made untrue."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

from fxbook.cases import Check
from fxbook.rules.returned import numbers_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import keys_are_names

Shape = tuple[int, ...]


class _Measured(fx.Interpreter):
    """Notes the shape that each node really has."""

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        if n.op == "call_function":
            self.shapes[n.name] = tuple(value.shape)
        return value


def shapes_of(module: fx.GraphModule, x: torch.Tensor) -> tuple[dict[str, Shape], dict[str, Shape | None]]:
    """The shape of each node that calls a function: as it is in a run, and as it is noted."""
    noted = {
        node.name: tuple(node.meta["val"].shape) if "val" in node.meta else None
        for node in module.graph.nodes
        if node.op == "call_function"
    }
    measured = _Measured(module)
    measured.shapes = {}
    with torch.no_grad():
        measured.run(x)
    return measured.shapes, noted


@rule
def finds_the_untrue(case: CaseView) -> Found:
    """The answer has each node whose noted shape is missing or untrue, with the true shape, and no other."""
    table = table_of(case.value)
    true, noted = shapes_of(*case.arguments)
    if table is None:
        yield None, "The answer is not a dict with names of nodes as keys."
        return
    for name, shape in true.items():
        node = case.before.named(name)
        if name not in table:
            if noted[name] is None:
                yield node, "has no shape in its notes, and is missing in the answer"
            elif noted[name] != shape:
                yield node, "has a shape in its notes that is not true for `x`, and is missing in the answer"
            continue
        if noted[name] == shape:
            yield node, "is in the answer, and the shape in its notes is true"
        sizes = numbers_of(table[name])
        if sizes is None:
            yield None, f"The value for `{name}` is not a shape: a tuple or a list of sizes."
        elif tuple(map(int, sizes)) != shape:
            untrue = (
                "the one in its notes" if noted[name] == tuple(map(int, sizes)) else "not the one that it has in a run"
            )
            yield None, f"The shape of `{name}` in the answer is {untrue}."
    for name in table:
        if name not in true:
            yield None, f"`{name}` is in the answer, but it is no node that calls a function."


CHECK = Check((keys_are_names, finds_the_untrue))
