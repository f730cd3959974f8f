"""Check that an interpreter frees every value as early as possible."""

from __future__ import annotations

import dataclasses

from fxbook.cases import Check
from fxbook.rules.returned import entry
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..watched_run.check import (
    keeps_to_env,
    left_in,
    let_go,
    nothing_held_after,
    result_is_right,
    run_of,
    uses_what_was_passed,
)


@rule("08_boxed_run#a-box-that-is-emptied")
def list_is_empty(case: CaseView) -> Found:
    """After the run, the list that was passed is empty."""
    yield from left_in(case, "list")


@rule("08_boxed_run#a-list-as-long-as-the-signature")
def refuses_other_lengths(case: CaseView) -> Found:
    """A list that is too long or too short raises an error."""
    run = run_of(case)
    inputs = [node for node in case.before if node.op == "placeholder"]
    for length in run.taken if run else ():
        too_few = length < len(inputs) and inputs[-1].positional
        default = ": an input with a default needs an item too" if too_few else ""
        yield None, f"A list of {length} items raises no error, although the graph has {len(inputs)} inputs{default}."


ONE_RUN = (keeps_to_env, uses_what_was_passed, result_is_right, list_is_empty, let_go, nothing_held_after)


@rule
def runs_again(case: CaseView) -> Found:
    """The rules for one run also hold for an interpreter that has run before."""
    again = entry(case.value, "again")
    if isinstance(again, str):
        yield None, f"A second run of the same interpreter raises {again}."
    elif again:
        second = dataclasses.replace(case, claims=dataclasses.replace(case.claims, value=again))
        for each in ONE_RUN:
            for _, sentence, *_ in each.find(second):
                yield None, f"In a second run of the same interpreter: {sentence[0].lower()}{sentence[1:]}"


CHECK = Check((*ONE_RUN, refuses_other_lengths, runs_again))
