"""Shrink a graph on which a pass raises an error."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.graph.naming import callable_name
from fxbook.rules.returned import name_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import given_left_alone, told
from .cases import MADE_BY_THE_PASS, calls_of, inputs_of

SHRINKING = "17_ship_a_pass#shrink-the-graph-that-fails"
# The call on which the pass raises an error, and the call whose value it uses.
NEEDED = 2


@rule(SHRINKING)
def returns_a_module(case: CaseView) -> Found:
    """The answer is a GraphModule."""
    if told(case, "kind") != "GraphModule":
        yield None, f"The answer is an object of class {told(case, 'kind')}, not a `GraphModule`."


@rule(SHRINKING)
def only_removes(case: CaseView) -> Found:
    """Each call in the answer is a call of the given graph with the same name, and all inputs are still there."""
    module, _ = case.arguments
    given = calls_of(module.graph)
    for name, call in (table_of(told(case, "calls")) or {}).items():
        if name not in given:
            yield None, f"Node `{name}` is new: only remove calls."
        elif isinstance(call, list) and call != given[name]:
            other = "calls something else" if call[0] != given[name][0] else "has other arguments"
            edited = call[0] == f"call_function {callable_name(MADE_BY_THE_PASS)}"
            why = ": `fails` has edited it, so call `fails` with a copy" if edited else ""
            yield case.before.named(name), f"{other} in the answer than in the given graph{why}"
    left = told(case, "inputs")
    for name in inputs_of(module.graph):
        if isinstance(left, list) and name not in left:
            yield case.before.named(name), "is missing: remove only calls"


@rule(SHRINKING)
def still_fails(case: CaseView) -> Found:
    """``fails`` is true for the answer."""
    if told(case, "fails") is not True:
        yield None, "`fails` is false for the module that was returned."


@rule(SHRINKING)
def nothing_to_spare(case: CaseView) -> Found:
    """No single call can still be removed."""
    calls = table_of(told(case, "calls")) or {}
    spare = name_of(told(case, "spare"))
    if spare is not None:
        yield None, f"Node `{spare}` can still be removed: without it, `fails` stays true. {len(calls)} calls are left."
    elif len(calls) > NEEDED:
        yield None, f"{len(calls)} calls are left, but {NEEDED} are enough."


@rule("00_first_graph#change-one-node")
def compiled_anew(case: CaseView) -> Found:
    """The compiled code matches the graph."""
    if told(case, "stale") is True:
        yield None, "The compiled code is stale: the module that was returned runs a graph other than its own."


CHECK = Check((given_left_alone, returns_a_module, only_removes, still_fails, nothing_to_spare, compiled_anew))
