"""Tell which values must be alive while a node computes."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import differences, graph_left_alone, needed, returned


@rule
def tells_needed(case: CaseView) -> Found:
    """The answer maps each node that computes to the values that have to be alive while it does."""

    def surplus(step: str, value: str) -> str:
        return "need not be alive." if case.before.named(value) else "is not a node of the graph."

    yield from differences(returned(case), needed(case.before), "must be alive", surplus)


CHECK = Check((tells_needed, graph_left_alone))
