"""Find the dim."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.graph.record import JSON
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import SUM, argument, keywords


@rule
def dims_found(case: CaseView) -> Found:
    """The answer maps the name of each sum to its ``dim``."""
    if not (isinstance(case.value, dict) and "dict" in case.value):
        yield None, "The answer is not a dict."
        return
    items = case.value["dict"]
    if any(isinstance(key, dict) and "node" in key for key, _ in items):
        yield None, "The keys of the answer are nodes: they should be node names."
    answered = {str(key): dim for key, dim in items}
    sums = {node.name: node for node in case.before if node in SUM}
    for name in answered:
        if name not in sums:
            other = case.before.named(name)
            why = f"`{name} = {other.call}` is not a sum" if other else "no node of the graph has that name"
            yield None, f"The answer has the key {name!r}, but {why}."
    for name, node in sums.items():
        if name not in answered:
            yield None, f"The answer has no entry for `{name} = {node.call}`."
        elif repr(dim := _plain(answered[name])) != repr(_plain(argument(node, 1, "dim"))):  # True == 1
            how = "by name" if "dim" in keywords(node) else "by position" if len(node.positional) > 1 else None
            where = f"passes its `dim` {how}" if how else "has no `dim`"
            shown = repr(dim)
            if isinstance(dim, dict):
                shown = f"the node `{dim['node']}`" if "node" in dim else "another value"
            yield None, f"For `{name} = {node.call}` the answer is {shown}: the call {where}."


def _plain(dim: JSON) -> JSON:
    """A tuple of numbers as a list, since a record and an answer may hold either."""
    return dim["tuple"] if isinstance(dim, dict) and "tuple" in dim else dim


CHECK = Check((dims_found, input_unchanged))
