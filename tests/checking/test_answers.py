"""Checkers accept right answers in other spellings and reject wrong ones with the right rule, node and section.

``make test`` judges two right answers of each exercise and a wrong one for each rule; the room *checking* judges all.
"""

from __future__ import annotations

import functools

import pytest

from fxbook import check
from fxbook.catalogue import about
from fxbook.checking import check_with
from fxbook.tasks import all_exercises, find
from fxbook.tasks.answering import KnownAnswer, answers_to
from tests.checking.exercise_for_tests import changed

IDS = [exercise.id for exercise in all_exercises()]
ANSWERS = {identity: answers_to(identity) for identity in IDS}
RIGHT, WRONG = 4, 5
SEED = 1  # tests/cold tries other seeds: a report must not depend on the numbers drawn.


def told(is_right: bool) -> pytest.MarkDecorator:
    rows = []
    for identity in IDS:
        answers = [one for one in ANSWERS[identity] if is_right == (not one.violated)]
        first = _ends(answers) if is_right else _first_of_each_rule(answers)
        for one in answers:
            marks = () if one.name in first else pytest.mark.room(name="checking")
            rows.append(pytest.param(identity, one, id=f"{identity}-{one.name}", marks=marks))
    return pytest.mark.parametrize(("identity", "one"), rows)


def _ends(answers: list[KnownAnswer]) -> set[str]:
    """The first and the last, because neighbours are often similar."""
    return {answers[0].name, answers[-1].name}


def _first_of_each_rule(answers: list[KnownAnswer]) -> set[str]:
    return set({one.violated: one.name for one in reversed(answers)}.values())


@pytest.mark.parametrize("identity", IDS)
def test_there_are_enough_answers(identity: str) -> None:
    names = [one.name for one in ANSWERS[identity]]
    wrong = sum(bool(one.violated) for one in ANSWERS[identity])
    assert len(names) - wrong >= RIGHT, "give right answers that differ from the solution in their way"
    assert wrong >= WRONG, "give wrong answers that people really write"
    assert len(set(names)) == len(names)


def test_answers_are_found_after_an_earlier_import() -> None:
    # The import collects the answers and happens only once, above.
    answers_to.cache_clear()
    assert [one.name for one in answers_to(IDS[0])] == [one.name for one in ANSWERS[IDS[0]]] != []


@pytest.mark.parametrize("identity", IDS)
def test_every_rule_rejects_an_answer(identity: str) -> None:
    exercise = find(identity)
    assert exercise
    asked = {name for rule in exercise.check.rules for name in rule.names()}
    proven = {one.violated for one in ANSWERS[identity]}
    assert sorted(asked - proven) == [], "write the wrong answer that violates it, or ask it no more"


@told(is_right=True)
def test_right_answer_passes(identity: str, one: KnownAnswer) -> None:
    passes(identity, one, SEED)


@told(is_right=False)
def test_wrong_answer_is_told_its_mistake(identity: str, one: KnownAnswer) -> None:
    is_told(identity, one, SEED)


def passes(identity: str, one: KnownAnswer, seed: int) -> None:
    report = check(identity, one.answer, seed=seed)
    assert report.passed, repr(report)


def is_told(identity: str, one: KnownAnswer, seed: int) -> None:
    exercise = find(identity)
    assert exercise
    if "loop for ever" in one.says:  # Too slow here.
        exercise = changed(exercise, seconds=1.0)
    report = check_with(exercise, one.answer, seed=seed)
    node = report.node.name if report.node else None
    assert not report.passed
    assert (report.violated, node, report.read) == (one.violated, one.node, one.read or _own(identity)), repr(report)
    assert one.says in report.message, repr(report)
    if one.case is not None:
        case = report.verdict.case
        assert case is not None and exercise.usage.cases[case].name == one.case, repr(report)


@functools.cache
def _own(identity: str) -> str:
    return about(identity).read
