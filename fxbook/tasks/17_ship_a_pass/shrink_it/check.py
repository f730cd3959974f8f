"""Shrink a graph on which a pass raises."""

from __future__ import annotations

from fxbook.asking import Check
from fxbook.asking.returned import name_of, table_of
from fxbook.asking.rule import Found, rule
from fxbook.asking.view import CaseView
from fxbook.graph.naming import target_name

from ..check import given_left_alone, told

SHRINKING = "17_ship_a_pass#shrink-the-graph-that-fails"
# The call on which the pass raises, and the one whose value it uses.
NEEDED = 2


@rule(SHRINKING)
def returns_a_module(case: CaseView) -> Found:
    """The answer is a GraphModule."""
    if told(case, "kind") != "GraphModule":
        yield None, f"The answer is an object of class {told(case, 'kind')}: a `GraphModule` was asked."


@rule(SHRINKING)
def only_removes(case: CaseView) -> Found:
    """Each call of the answer is one of the given graph, under its name."""
    module, _ = case.arguments
    given = {node.name: f"{node.op} {target_name(node)}" for node in module.graph.nodes}
    for name, call in (table_of(told(case, "calls")) or {}).items():
        if name not in given:
            yield None, f"Node `{name}` is new: calls were only to be removed."
        elif call != given[name]:
            yield case.before.named(name), "calls something else than in the given graph"


@rule(SHRINKING)
def still_fails(case: CaseView) -> Found:
    """``fails`` is true of the answer."""
    if told(case, "fails") is not True:
        yield None, "`fails` is false for the module that was returned."


@rule(SHRINKING)
def nothing_to_spare(case: CaseView) -> Found:
    """No further call can go."""
    calls = table_of(told(case, "calls")) or {}
    spare = name_of(told(case, "spare"))
    if spare is not None:
        yield None, f"Node `{spare}` can still go: without it, `fails` stays true. There are {len(calls)} calls left."
    elif len(calls) > NEEDED:
        yield None, f"There are {len(calls)} calls left, and {NEEDED} are enough."


CHECK = Check((given_left_alone, returns_a_module, only_removes, still_fails, nothing_to_spare))
