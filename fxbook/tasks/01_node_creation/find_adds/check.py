"""Find every addition."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.cases.values import kind_of
from fxbook.graph.record import NodeRecord
from fxbook.rules.families import ADD
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import NodeOfACopy


def adds(node: NodeRecord) -> bool:
    """Whether the node computes the sum of two values, unscaled."""
    alpha = dict(node.kwargs["dict"]).get("alpha", 1)
    return node.op != "call_module" and node in ADD and alpha in (1, {"float": "1.0"})


@rule
def finds(case: CaseView) -> Found:
    """The answer is the list of the nodes that add."""
    listed = case.value.get("tuple") if isinstance(case.value, dict) else case.value
    if not isinstance(listed, list):
        yield None, f"The answer is {kind_of(case.value)}, not a list of nodes."
        return
    if {"opaque": NodeOfACopy.__name__} in listed:
        yield None, "The list holds a node of a copy of the graph: the nodes of `gm.graph` itself were asked for."
        return
    for item in listed:
        if not isinstance(item, dict) or "node" not in item:
            yield None, f"The answer holds {kind_of(item)}, not a list of nodes."
            return
    names = [item["node"] for item in listed]
    for node in case.before:
        if adds(node) and node.name not in names:
            yield None, _told(case, node, "is an addition, but not in the list")
        if node.name in names and not adds(node):
            yield None, _told(case, node, "is in the list, but not an addition")
    for name in names:
        if names.count(name) > 1:
            yield None, f"Node `{name}` is in the list {names.count(name)} times: each should be there once."
    for name, asked in zip(names, [node.name for node in case.before if adds(node)], strict=True):
        if name != asked:
            yield None, f"`{name}` is in the list before `{asked}`: in the graph it comes after it."


def _told(case: CaseView, node: NodeRecord, what: str) -> str:
    """A sentence about a node, with the graph lines that lead to it."""
    near = [line for line in case.before.nodes[: node.index + 1] if line.op != "placeholder"][-2:]
    lines = ", ".join(f"`{line.name} = {line.call}`" for line in near)
    return f"Node `{node.name}`, a `{node.op}`, {what}{f'; the graph reads {lines}' if lines else ''}."


CHECK = Check((finds, input_unchanged))
