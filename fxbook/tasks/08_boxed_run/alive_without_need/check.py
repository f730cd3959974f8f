"""Measure which values an interpreter keeps alive without need."""

from __future__ import annotations

from collections.abc import Callable

from torch import fx

from fxbook.cases import Check
from fxbook.graph.record import NodeRecord
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import names_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import differences, made_before, needed
from .cases import Collecting, Dropping, Hoarding, Late

# For each interpreter, whether it still holds a node's value, needed or not, when a later step begins.
HOLDS: dict[type[fx.Interpreter], Callable[[NodeRecord, NodeRecord], bool]] = {
    fx.Interpreter: lambda node, step: not node.users,
    Hoarding: lambda node, step: True,
    Collecting: lambda node, step: node.op != "placeholder" or not node.users,
    Dropping: lambda node, step: node.op == "placeholder" and not node.users,
    Late: lambda node, step: not node.users or max(node.users) >= step.index - 1,
}


@rule
def unneeded_values(case: CaseView) -> Found:
    """The answer maps each node that computes to the values that are alive at that time, but not needed."""
    # In this order, because making the arguments also makes the graph.
    kind, graph, table = case.arguments[0], case.before, table_of(case.value) or {}
    holds = HOLDS[kind]
    must = needed(graph)
    unneeded = {
        step.name: {value.name for value in made_before(graph, step) if holds(value, step)} - must[step.name]
        for step in graph
        if step.name in must
    }

    def surplus(step: str, value: str) -> str:
        if graph.named(value) is None:
            return "is not a node of the graph."
        return "must be alive." if value in must[step] else "is freed earlier by this interpreter: what else holds it?"

    lacks = {value for step, values in unneeded.items() for value in values - (names_of(table.get(step)) or set())}
    inputs = {node.name for node in graph if node.op == "placeholder"}

    def lacking(value: str) -> str:
        if lacks <= inputs:
            return " `boxed_run` does not call `run_node` for inputs."
        return "" if kind is fx.Interpreter else " This `kind` keeps values longer than `fx.Interpreter` does."

    yield from differences(case.value, unneeded, "is alive without need", surplus, lacking)


CHECK = Check((unneeded_values, input_unchanged))
