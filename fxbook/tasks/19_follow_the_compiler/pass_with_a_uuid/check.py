"""Write a pass that Inductor's cache can know."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.rules.returned import name_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import described


def told(case: CaseView, key: str) -> object:
    """What the function that used the answer reported under that key."""
    return (table_of(case.value) or {}).get(key)


@rule
def is_a_pass(case: CaseView) -> Found:
    """The class is one of Inductor's passes."""
    kind = name_of(told(case, "kind"))
    if kind is not None:
        yield None, f"`Swap(old, new)` is an object of class {kind}, which is not a `CustomGraphPass`."


@rule
def swaps(case: CaseView) -> Found:
    """Each call of the old operator is a call of the new one, and nothing else changes."""
    module, old, new = case.arguments
    nodes = told(case, "nodes")
    if not isinstance(nodes, list) or len(nodes) != len(module.graph.nodes):
        yield None, "The pass has added or erased nodes: only the operators of calls should change."
        return
    names = [node.name for node in module.graph.nodes]
    for node in module.graph.nodes:
        node.target = new if node.target is old else node.target
    for name, found, wanted in zip(names, nodes, described(module.graph), strict=True):
        if found != wanted:
            yield case.before.named(name), f"is `{found}` after the pass (`%3` stands for the node at place 3)"


@rule
def is_text(case: CaseView) -> Found:
    """The uuid is text."""
    if told(case, "type") != "str":
        yield None, f"`uuid()` returns an object of class {told(case, 'type')}, not a `str`."


@rule
def same_for_the_same(case: CaseView) -> Found:
    """Two passes with the same operators have the same text, before and after they run."""
    if told(case, "again") is not True:
        yield (
            None,
            "Two passes with the same operators have different texts: the cache would never recognize the second.",
        )
    elif told(case, "after") is not True:
        yield None, "The text changes when the pass runs."


@rule
def another_for_others(case: CaseView) -> Found:
    """Passes with other operators have other texts."""
    equal = told(case, "equal")
    if isinstance(equal, list) and equal:
        yield None, f"These passes have the same text: {equal[0]}. The cache would take one for the other."


@rule
def holds_tomorrow(case: CaseView) -> Found:
    """The text has no address and no salted hash."""
    if told(case, "salted") is True:
        yield None, "The text contains an address or a hash, which differs in another process."


CHECK = Check((is_a_pass, swaps, is_text, same_for_the_same, another_for_others, holds_tomorrow))
