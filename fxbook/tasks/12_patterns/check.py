"""What the exercises of chapter 12 require of answers that are data."""

from __future__ import annotations

from fxbook.cases.values import Value
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def returned(case: CaseView) -> Value:
    """What the answer returned, as recorded by ``with_changes``."""
    match case.value:
        case {"dict": [["returned", value], ["changed", _]]}:
            return value
    return None


@rule("12_patterns#a-backend-sees-the-whole-model")
def graph_left_alone(case: CaseView) -> Found:
    """The graph that was passed is as it was."""
    match case.value:
        case {"dict": [_, ["changed", [str(name), *_]]]}:
            yield None, f"The graph that was passed has been changed: node `{name}` is not as it was."
