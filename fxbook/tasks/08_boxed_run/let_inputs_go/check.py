"""Run a graph on inputs by name, and free each input after its last use."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..watched_run.check import (
    keeps_to_env,
    left_in,
    let_go,
    nothing_held_after,
    reads_what_was_handed_over,
    result_is_right,
)


@rule("08_boxed_run#a-box-that-is-emptied")
def nothing_left(case: CaseView) -> Found:
    """The dict that was passed is empty after the run."""
    yield from left_in(case, "dict")


CHECK = Check((keeps_to_env, reads_what_was_handed_over, result_is_right, nothing_left, let_go, nothing_held_after))
