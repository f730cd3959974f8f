"""Shrink a graph on which a pass raises an error."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.graph.naming import callable_name
from fxbook.rules.returned import name_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import compiled_anew, given_left_alone, observed
from .cases import MADE_BY_THE_PASS, calls_of, inputs_of

# The number of calls that must stay: the one on which the pass raises an error, and the one whose value that call uses.
NEEDED = 2


@rule
def returns_a_module(case: CaseView) -> Found:
    """The answer is a GraphModule."""
    if observed(case, "kind") != "GraphModule":
        yield None, f"The answer is an object of class {observed(case, 'kind')}, not a `GraphModule`."


@rule
def only_removes(case: CaseView) -> Found:
    """Each call in the answer is in the given graph under the same name, and all inputs are still there."""
    module, _ = case.arguments
    given = calls_of(module.graph)
    for name, call in (table_of(observed(case, "calls")) or {}).items():
        if name not in given:
            yield None, f"Node `{name}` is new: only remove calls."
        elif isinstance(call, list) and call != given[name]:
            other = "calls something else" if call[0] != given[name][0] else "has different arguments"
            edited = call[0] == f"call_function {callable_name(MADE_BY_THE_PASS)}"
            why = ": `fails` has edited it, so call `fails` with a copy" if edited else ""
            yield case.before.named(name), f"{other} in the answer than in the given graph{why}"
    left = observed(case, "inputs")
    for name in inputs_of(module.graph):
        if isinstance(left, list) and name not in left:
            yield case.before.named(name), "is missing from the answer: remove only calls"


@rule
def still_fails(case: CaseView) -> Found:
    """``fails`` is true for the answer."""
    if observed(case, "fails") is not True:
        yield None, "`fails` is false for the module that was returned."


@rule
def each_call_is_used(case: CaseView) -> Found:
    """No call in the answer lacks users."""
    if (name := name_of(observed(case, "unused"))) is not None:
        yield None, f"Node `{name}` has no users, but is still in the answer."


@rule
def nothing_left_to_remove(case: CaseView) -> Found:
    """No single call can still be removed."""
    calls = table_of(observed(case, "calls")) or {}
    name = name_of(observed(case, "removable"))
    if name is not None:
        yield None, f"Node `{name}` can still be removed: `fails` is true without it, too. {len(calls)} calls are left."
    elif len(calls) > NEEDED:
        yield None, f"{len(calls)} calls are left, but {NEEDED} are enough."


CHECK = Check(
    (
        given_left_alone,
        returns_a_module,
        only_removes,
        still_fails,
        each_call_is_used,
        nothing_left_to_remove,
        compiled_anew,
    )
)
