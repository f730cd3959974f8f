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
    """Whether the node computes the unscaled sum of two values."""
    alpha = dict(node.kwargs["dict"]).get("alpha", 1)
    return node.op != "call_module" and node in ADD and alpha in (1, {"float": "1.0"})


@rule
def finds(case: CaseView) -> Found:
    """The answer is a list of all nodes that add, in graph order."""
    listed = case.value.get("tuple") if isinstance(case.value, dict) else case.value
    if not isinstance(listed, list):
        yield None, f"The answer is {kind_of(case.value)}, not a list of nodes."
        return
    if {"opaque": NodeOfACopy.__name__} in listed:
        yield None, "The list contains a node of another graph (a copy, or that of a submodule), not of `gm.graph`."
        return
    for item in listed:
        if not isinstance(item, dict) or "node" not in item:
            yield None, f"The list contains {kind_of(item)} where a node should be."
            return
    names = [item["node"] for item in listed]
    for node in case.before:
        if adds(node) and node.name not in names:
            yield None, _about(case, node, "is an addition, but is not in the list")
        if node.name in names and not adds(node):
            yield None, _about(case, node, "is in the list, but is not an addition")
    for name in names:
        if names.count(name) > 1:
            yield None, f"Node `{name}` is in the list {names.count(name)} times: each should appear once."
    for name, expected in zip(names, [node.name for node in case.before if adds(node)], strict=True):
        if name != expected:
            yield None, f"`{name}` is in the list before `{expected}`: in the graph, `{expected}` comes first."


def _about(case: CaseView, node: NodeRecord, what: str) -> str:
    """A sentence about a node, with the last lines of the graph up to that node, at most two."""
    near = [line for line in case.before.nodes[: node.index + 1] if line.op != "placeholder"][-2:]
    lines = ", ".join(f"`{line.name} = {line.call}`" for line in near)
    return f"Node `{node.name}`, a `{node.op}`, {what}{f'; the graph reads {lines}' if lines else ''}."


CHECK = Check((finds, input_unchanged))
