"""TITLE."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.rules.explained import lints, no_dead_nodes
from fxbook.rules.predicates import placeholders, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


@rule
def nothing_stored(case: CaseView) -> Found:
    """The graph uses only its input: a constant would fit only one size."""
    for node in case.nodes:
        if node.op == "get_attr":
            yield node, "fetches something stored: the graph may use only its input"


CHECK = Check((lints, placeholders("x"), nothing_stored, same_result, no_dead_nodes))
