"""Rules for the exercises of chapter 17, in which a function of ``cases.py`` calls the answer and observes it."""

from __future__ import annotations

from fxbook.cases.values import Value
from fxbook.rules.returned import name_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def observed(case: CaseView, key: str) -> Value:
    """What the function that called the answer recorded under that key."""
    return (table_of(case.value) or {}).get(key)


@rule("17_ship_a_pass#what-a-pass-must-keep-is-a-list-of-functions")
def given_left_alone(case: CaseView) -> Found:
    """The graphs, the weights and the inputs that were passed are unchanged."""
    changed = name_of(observed(case, "changed"))
    if changed is not None:
        yield None, f"A graph that was passed has been changed: node `{changed}` is different from before."
    weight = name_of(observed(case, "weight"))
    if weight is not None:
        yield None, f"A weight of the given module has been changed: `{weight}`. Copy the module with its weights."
    if observed(case, "written") is True:
        yield None, "An input that was passed has been written to."


@rule("00_first_graph#change-one-node")
def compiled_anew(case: CaseView) -> Found:
    """The compiled code matches the graph."""
    if observed(case, "stale") is True:
        yield None, "The compiled code is stale: the module does not run its own graph."
