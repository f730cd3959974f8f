"""What the exercises of chapter 17 require of answers that another function calls."""

from __future__ import annotations

from fxbook.cases.values import Value
from fxbook.rules.returned import name_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def told(case: CaseView, key: str) -> Value:
    """What the function that called the answer reported under that key."""
    return (table_of(case.value) or {}).get(key)


@rule("17_ship_a_pass#what-a-pass-must-keep-is-a-list-of-functions")
def given_left_alone(case: CaseView) -> Found:
    """The graphs, the weights and the inputs that were passed are unchanged."""
    changed = name_of(told(case, "changed"))
    if changed is not None:
        yield None, f"A graph that was passed has been changed: node `{changed}` is not as it was."
    weight = name_of(told(case, "weight"))
    if weight is not None:
        yield None, f"A weight of the given module has been changed: `{weight}`. Copy the module with its weights."
    if told(case, "written") is True:
        yield None, "An input that was passed has been written to."
