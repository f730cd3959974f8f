"""What the exercises of chapter 07 require of an answer that is an interpreter class."""

from __future__ import annotations

from fxbook.rules.returned import entry
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


@rule
def usable(case: CaseView) -> Found:
    """The answer is an interpreter class, and its instances can be run."""
    if not (isinstance(case.value, dict) and "dict" in case.value):
        yield None, "What your interpreter returns cannot be read."
    elif problem := entry(case.value, "problem"):
        yield None, f"{problem}."
