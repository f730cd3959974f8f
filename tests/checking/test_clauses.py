"""Every clause of a task has a case of its own, in which an answer that breaks it is refused.

tests/cold tries many seeds: what a random graph sees by chance is seen by no case.
"""

from __future__ import annotations

import pytest

from fxbook import check, tasks
from fxbook.tasks.answering import answers_to
from tests.checking.clauses import Clause, clauses_of, docstring, sentences

SEED = 2  # Not the one with which the reports of the same answers are compared.
TABLED = [identity for identity in tasks.ids() if (tasks.folder_of(identity) / "clauses.toml").exists()]


@pytest.mark.parametrize("identity", TABLED)
def test_every_sentence_is_in_the_table_and_nothing_else(identity: str) -> None:
    clauses, text = clauses_of(identity), sentences(identity)
    places = [*text, docstring(identity)]
    assert [sentence for sentence in text if not clauses.covers(sentence)] == [], (
        "name its clauses, or list it in tells"
    )
    assert [sentence for sentence in clauses.tells if sentence not in text] == [], "is in the text no more"
    gone = [clause.asks for clause in clauses.asked if not any(clause.asks in place for place in places)]
    assert gone == [], "is in neither the text nor the docstring"
    assert clauses.asked, "a task asks something"


@pytest.mark.room(name="checking")
@pytest.mark.parametrize("identity", TABLED)
def test_every_clause_is_seen_in_its_case(identity: str) -> None:
    assert unseen(identity, SEED) == []


def unseen(identity: str, seed: int) -> list[tuple[Clause, str]]:
    """The clauses whose wrong answer is not refused in their case, each with what was found instead."""
    exercise = tasks.find(identity)
    assert exercise
    wrong = {known.name: known.answer for known in answers_to(identity) if known.violated}
    missed = []
    for clause in clauses_of(identity).asked:
        assert clause.wrong in wrong, f"{identity}: no wrong answer is named {clause.wrong}"
        assert any(case.name == clause.case for case in exercise.cases), f"{identity}: no case is named {clause.case!r}"
        report = check(identity, wrong[clause.wrong], seed=seed)
        case = report.verdict.case
        found = "passed" if report.passed else "no case" if case is None else exercise.cases[case].name
        if found != clause.case:
            missed.append((clause, f"{found}: {report.message}"))
    return missed
