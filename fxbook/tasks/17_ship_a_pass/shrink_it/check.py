"""Shrink a graph on which a pass raises an error."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.cases.values import Value
from fxbook.graph.naming import callable_name
from fxbook.rules.returned import name_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import compiled_anew, given_left_alone, observed
from .cases import MADE_BY_THE_PASS, calls_of, inputs_of

# The number of calls that must stay: the call on which the pass raises an error, and the call whose value it uses.
NEEDED = 2


@rule
def returns_a_module(case: CaseView) -> Found:
    """The answer is a GraphModule."""
    if observed(case, "kind") != "GraphModule":
        yield None, f"The answer is an object of class {observed(case, 'kind')}, not a `GraphModule`."


def left_calls(case: CaseView) -> dict[str, Value]:
    """The calls in the answer; see ``calls_of``."""
    return table_of(observed(case, "calls")) or {}


@rule
def only_removes(case: CaseView) -> Found:
    """Each call in the answer is in the given graph, perhaps under another name, and all inputs are still there."""
    module, _ = case.arguments
    given = calls_of(module.graph)
    # A graph that was built anew has the same calls, but may give them other names.
    unmatched = [call for name, call in given.items() if left_calls(case).get(name) != call]
    for name, call in left_calls(case).items():
        if call == given.get(name):
            continue
        if call in unmatched:
            unmatched.remove(call)
        elif name not in given:
            yield None, f"Node `{name}` is new: only remove calls."
        elif isinstance(call, list):
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
def users_use_inputs(case: CaseView) -> Found:
    """Each node uses the inputs that it had, or nodes that take the place of a removed input."""
    module, _ = case.arguments
    given, left = case.before, left_calls(case)
    calls = calls_of(module.graph)
    if any(calls.get(name) != call for name, call in left.items()):
        # In a graph that was built anew, the names do not say which call is which.
        return
    for name, used in (table_of(observed(case, "uses")) or {}).items():
        node = given.named(name)
        allowed: set[str] = set()
        waiting = list(node.inputs) if node else []
        while waiting:
            read = given.nodes[waiting.pop()]
            if read.op.startswith("call") and read.name not in left:
                waiting += read.inputs
            else:
                allowed.add(read.name)
        for other in used if node and isinstance(used, list) else ():
            if other not in allowed:
                yield node, f"uses `{other}` in the answer: users of a removed call should use one of its inputs"


@rule
def each_call_is_used(case: CaseView) -> Found:
    """Every call in the answer has a user."""
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
        users_use_inputs,
        still_fails,
        each_call_is_used,
        nothing_left_to_remove,
        compiled_anew,
    )
)
