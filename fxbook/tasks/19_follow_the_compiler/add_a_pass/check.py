"""Add a pass to the passes in one of Inductor's places."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.rules.returned import table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import names


@rule
def returns_a_list(case: CaseView) -> Found:
    """The answer is a list."""
    kind = (table_of(case.value) or {}).get("kind")
    if kind != "list":
        yield None, f"The answer is an object of class {kind}, not a list."


@rule
def has_all_in_order(case: CaseView) -> Found:
    """The list has the passes of the setting, in order, and the new pass once."""
    setting, new = case.arguments
    before = names(setting)
    wanted = before if new.name in before else [*before, new.name]
    found = (table_of(case.value) or {}).get("names")
    if found != wanted:
        yield None, f"The setting has the passes {before}, the new pass is {new.name!r}, and the list has {found}."


@rule
def setting_is_kept(case: CaseView) -> Found:
    """The setting is as it was, and the list is another object."""
    if (table_of(case.value) or {}).get("kept") is not True:
        yield None, "The list that the place holds has been changed, or it is the answer itself: return a new list."


CHECK = Check((returns_a_list, has_all_in_order, setting_is_kept))
