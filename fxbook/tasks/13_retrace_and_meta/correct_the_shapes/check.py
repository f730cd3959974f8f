"""Find the nodes whose recorded shape is no longer correct after an edit."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

from fxbook.cases import Check
from fxbook.rules.returned import instead_of, numbers_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

Shape = tuple[int, ...]


class _Measured(fx.Interpreter):
    """An Interpreter that records the shape of each node's value."""

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        if n.op == "call_function":
            self.shapes[n.name] = tuple(value.shape)
        return value


def shapes_of(module: fx.GraphModule, x: torch.Tensor) -> tuple[dict[str, Shape], dict[str, Shape | None]]:
    """The shapes of the nodes that call a function: those found in a run, and those recorded in ``meta``."""
    recorded = {
        node.name: tuple(node.meta["val"].shape) if "val" in node.meta else None
        for node in module.graph.nodes
        if node.op == "call_function"
    }
    measured = _Measured(module)
    measured.shapes = {}
    with torch.no_grad():
        measured.run(x)
    return measured.shapes, recorded


@rule
def finds_wrong_shapes(case: CaseView) -> Found:
    """The answer maps exactly those nodes whose recorded shape is missing or wrong to their correct shapes."""
    table = table_of(case.value)
    true, recorded = shapes_of(*case.arguments)
    if table is None:
        yield None, instead_of("a dict with node names as keys", case.value)
        return
    for name, shape in true.items():
        node = case.before.named(name)
        if name not in table:
            if recorded[name] is None:
                yield node, "has no shape in its notes, but is missing from the answer"
            elif recorded[name] != shape:
                wrong = f"{recorded[name]} instead of {shape}"
                yield node, f"has a wrong shape in its notes, but is missing from the answer: {wrong}"
            continue
        if recorded[name] == shape:
            yield node, "is in the answer, but the shape in its notes is correct"
        sizes = numbers_of(table[name])
        if sizes is None:
            yield None, f"The value for `{name}` is not a shape, which is a tuple or a list of sizes."
        elif (answer := tuple(map(int, sizes))) != shape:
            wrong = "the recorded shape, which is wrong" if recorded[name] == answer else "wrong"
            yield None, f"The shape of `{name}` in the answer is {wrong}: {answer} instead of {shape}."
    for name in table:
        if name not in true:
            yield None, f"`{name}` is in the answer, but it is not a `call_function` node."


CHECK = Check((finds_wrong_shapes,))
