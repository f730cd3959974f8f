"""Find the nodes whose recorded shape is no longer correct after an edit."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

from fxbook.cases import Check
from fxbook.rules.returned import numbers_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

Shape = tuple[int, ...]


class _Measured(fx.Interpreter):
    """Keeps the shape that each node has in a run."""

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        if n.op == "call_function":
            self.shapes[n.name] = tuple(value.shape)
        return value


def shapes_of(module: fx.GraphModule, x: torch.Tensor) -> tuple[dict[str, Shape], dict[str, Shape | None]]:
    """The shapes of the nodes that call a function: as found in a run, and as recorded in the notes."""
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
    """The answer has each node whose recorded shape is missing or wrong, with its correct shape, and no other node."""
    table = table_of(case.value)
    true, noted = shapes_of(*case.arguments)
    if table is None:
        yield None, "The answer is not a dict with node names as keys."
        return
    for name, shape in true.items():
        node = case.before.named(name)
        if name not in table:
            if noted[name] is None:
                yield node, "has no shape in its notes, but is missing from the answer"
            elif noted[name] != shape:
                wrong = f"{noted[name]} instead of {shape}"
                yield node, f"has a wrong shape in its notes, but is missing from the answer: {wrong}"
            continue
        if noted[name] == shape:
            yield node, "is in the answer, but the shape in its notes is correct"
        sizes = numbers_of(table[name])
        if sizes is None:
            yield None, f"The value for `{name}` is not a shape: a tuple or a list of sizes."
        elif tuple(map(int, sizes)) != shape:
            said = tuple(map(int, sizes))
            wrong = "the recorded shape, which is wrong" if noted[name] == said else "wrong"
            yield None, f"The shape of `{name}` in the answer is {wrong}: {said} instead of {shape}."
    for name in table:
        if name not in true:
            yield None, f"`{name}` is in the answer, but it is not a `call_function` node."


CHECK = Check((finds_the_untrue,))
