"""List the values that must be alive while each node computes."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.rules.explained import graph_left_alone
from fxbook.rules.returned import entry
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import differences, needed


@rule
def needed_values(case: CaseView) -> Found:
    """The answer maps each node that computes to the values that must be alive while it computes."""

    def surplus(step: str, value: str) -> str:
        return "need not be alive." if case.before.named(value) else "is not a node of the graph."

    yield from differences(entry(case.value, "returned"), needed(case.before), "must be alive", surplus)


CHECK = Check((needed_values, graph_left_alone))
