"""What the exercises of chapter 07 require if the answer is an interpreter."""

from __future__ import annotations

from fxbook.cases.values import dict_items
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


@rule
def usable(case: CaseView) -> Found:
    """The answer is an interpreter that could be run."""
    if not (isinstance(case.value, dict) and "dict" in case.value):
        yield None, "What your interpreter returns cannot be read."
    elif problem := dict_items(case.value).get("'problem'"):
        yield None, f"{problem}."
