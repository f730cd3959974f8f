"""Say whether a module is stale."""

from __future__ import annotations

from fxbook.asking import Check
from fxbook.asking.predicates import input_unchanged
from fxbook.asking.rule import Found, rule
from fxbook.asking.view import CaseView

from ..check import left_alone, noted


@rule
def says_whether_stale(case: CaseView) -> Found:
    """The answer is ``True`` for a module whose text is older than its graph, else ``False``."""
    stale, said = case.before.stale, noted(case).get("said")
    if not isinstance(said, bool):
        yield None, "Your function returns neither True nor False."
    elif stale and not said:
        yield None, "It says that the code is up to date, of a module whose code is stale."
    elif said and not stale:
        yield None, "It says that the code is stale, of a module whose code is up to date."


CHECK = Check((input_unchanged, left_alone, says_whether_stale))
