"""Write a pass that Inductor's cache can recognize by its uuid."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.rules.returned import name_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import described


def observed(case: CaseView, key: str) -> object:
    """What the function that used the answer recorded under that key."""
    return (table_of(case.value) or {}).get(key)


@rule
def is_a_pass(case: CaseView) -> Found:
    """``Swap`` is a subclass of Inductor's ``CustomGraphPass``."""
    kind = name_of(observed(case, "kind"))
    if kind is not None:
        yield None, f"`Swap(old, new)` is an object of class {kind}, which is not a `CustomGraphPass`."


@rule
def swaps(case: CaseView) -> Found:
    """After the pass, each call to the old operator is a call to the new operator, and nothing else has changed."""
    module, old, new = case.arguments
    nodes = observed(case, "nodes")
    if not isinstance(nodes, list) or len(nodes) != len(module.graph.nodes):
        yield None, "The pass has added or erased nodes: only the operators of calls should change."
        return
    names = [node.name for node in module.graph.nodes]
    for node in module.graph.nodes:
        node.target = new if node.target is old else node.target
    for name, found, expected in zip(names, nodes, described(module.graph), strict=True):
        if found == expected:
            continue
        called, calls = (text.partition("(")[0] for text in (found, expected))
        if called == calls:
            now = f"has different arguments after the pass: `{found}`, not `{expected}` (`%3` is the node at index 3)"
        elif called == str(old):
            now = f"still calls `{called}` after the pass, not `{calls}`"
        else:
            now = f"calls `{called}` after the pass, but should call `{calls}`"
        yield case.before.named(name), now


@rule
def is_text(case: CaseView) -> Found:
    """``uuid()`` returns a ``str``."""
    if observed(case, "type") != "str":
        yield None, f"`uuid()` returns an object of class {observed(case, 'type')}, not a `str`."


@rule
def same_for_the_same(case: CaseView) -> Found:
    """Two passes with the same operators have the same text, which neither a run nor another pass changes."""
    if observed(case, "again") is not True:
        yield None, "Two passes with the same operators have different texts: the cache would not recognize the second."
    elif observed(case, "after") is not True:
        yield None, "The text changes when the pass runs."
    elif observed(case, "apart") is not True:
        yield None, "A pass changes when another `Swap` is made: each pass needs its own operators."


@rule
def differs_for_others(case: CaseView) -> Found:
    """Passes with different operators have different texts."""
    equal = observed(case, "equal")
    if isinstance(equal, list) and equal:
        yield None, f"These passes have the same text: {equal[0]}. The cache would mistake one for the other."


@rule
def same_in_another_process(case: CaseView) -> Found:
    """The text contains no address, salted hash or process id."""
    if observed(case, "salted") is True:
        yield None, "The text contains an address, a hash or a process id, which differs in another process."


CHECK = Check((is_a_pass, swaps, is_text, same_for_the_same, differs_for_others, same_in_another_process))
