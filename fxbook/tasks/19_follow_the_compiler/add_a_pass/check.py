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
    """The list has the passes in the setting, in order, followed by the new pass if it is not among them."""
    setting, new = case.arguments
    before = names(setting)
    expected = before if new.name in before else [*before, new.name]
    found = (table_of(case.value) or {}).get("names")
    if found != expected:
        passes = f"passes {before} in the setting and the new pass {new.name!r}"
        yield None, f"With the {passes}, the list should be {expected}, but it is {found}.{_why(setting, found)}"


def _why(setting: object, found: object) -> str:
    """A remark for an answer that takes a single pass for something else."""
    if setting is None or isinstance(setting, list | tuple) or not isinstance(found, list):
        return ""
    lost, added = names(setting)[0] not in found, len(found) > 1
    if lost:
        return " The setting is one pass: an object that can be called, and whose length happens to be 0."
    return "" if added else " The two passes are different objects of one class."


@rule
def setting_is_kept(case: CaseView) -> Found:
    """The setting is unchanged, and the list is a new object."""
    if (table_of(case.value) or {}).get("kept") is not True:
        yield None, "The list `setting` has been changed, or the answer is that same list: return a new list."


CHECK = Check((returns_a_list, has_all_in_order, setting_is_kept))
