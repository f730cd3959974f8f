"""Tell which values must be alive while a node computes."""

from __future__ import annotations

from fxbook.asking import Check
from fxbook.asking.rule import Found, rule
from fxbook.asking.view import CaseView

from ..check import differences, graph_left_alone, needed, returned


@rule
def tells_needed(case: CaseView) -> Found:
    """The answer maps each node that computes to the values that have to be alive while it does."""
    yield from differences(
        returned(case), needed(case.before), "must be alive", lambda step, value: "need not be alive."
    )


CHECK = Check((tells_needed, graph_left_alone))
