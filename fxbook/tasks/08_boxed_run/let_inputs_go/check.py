"""Check a run on inputs passed by name, which frees each input after its last use."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..watched_run.check import (
    alive_too_long,
    graph_kept,
    keeps_to_env,
    left_in,
    nothing_held_after,
    result_is_right,
    uses_what_was_passed,
)


@rule("08_boxed_run#a-box-that-is-emptied")
def nothing_left(case: CaseView) -> Found:
    """After the run, the dict that was passed is empty."""
    yield from left_in(case, "dict")


@rule
def let_go(case: CaseView) -> Found:
    """No value is alive after its last use, except for values without users, which an interpreter keeps to the end."""
    yield from alive_too_long(case, "dict", unused=False)


CHECK = Check(
    (keeps_to_env, graph_kept, uses_what_was_passed, result_is_right, nothing_left, let_go, nothing_held_after)
)
