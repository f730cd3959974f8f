"""Find the calls that can run in int8: no call is missing, and none is there that computes in float."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.rules.returned import names_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import why_float


@rule("18_quantise_a_graph#count-the-calls-that-can-run-in-int8")
def finds_the_calls(case: CaseView) -> Found:
    """The answer has each call that can run in int8, and no other node."""
    names = names_of(case.value)
    if names is None:
        yield None, "The answer is not a list of names of nodes."
        return
    [module] = case.arguments
    nodes = {node.name: node for node in module.graph.nodes}
    for name in sorted(names - nodes.keys()):
        yield None, f"`{name}` is in the answer, and is no node."
    for name, node in nodes.items():
        why = why_float(node)
        if why and name in names:
            yield case.before.named(name), f"is in the answer, and cannot run in int8: {why}"
        if not why and name not in names:
            yield case.before.named(name), "can run in int8, and is missing in the answer"


CHECK = Check((finds_the_calls,))
