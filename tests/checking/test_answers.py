"""Checks accept right answers written in any way, and reject wrong ones with the right rule, node and section.

``make test`` judges one right answer of each exercise beside its solution, which solutions/ runs, and a wrong one for
each rule; the room *checking* judges all.
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
SEED = 1  # tests/cold tries other seeds, since a report must not depend on random numbers.


def by_answer(is_right: bool) -> pytest.MarkDecorator:
    rows = []
    for identity in IDS:
        answers = [one for one in ANSWERS[identity] if is_right == (not one.violated)]
        first = {answers[-1].name} if is_right else _first_of_each_rule(answers)
        for one in answers:
            marks = () if one.name in first else pytest.mark.room(name="checking")
            rows.append(pytest.param(identity, one, id=f"{identity}-{one.name}", marks=marks))
    return pytest.mark.parametrize(("identity", "one"), rows)


def _first_of_each_rule(answers: list[KnownAnswer]) -> set[str]:
    return set({one.violated: one.name for one in reversed(answers)}.values())


@pytest.mark.parametrize("identity", IDS)
def test_there_are_enough_answers(identity: str) -> None:
    names = [one.name for one in ANSWERS[identity]]
    wrong = sum(bool(one.violated) for one in ANSWERS[identity])
    assert len(names) - wrong >= RIGHT, "add right answers that differ in kind from the solution"
    assert wrong >= WRONG, "add wrong answers that people really write"
    assert len(set(names)) == len(names)


def test_answers_are_found_after_an_earlier_import() -> None:
    # Importing an answer file collects its answers, and happened above; a second import runs nothing.
    answers_to.cache_clear()
    assert [one.name for one in answers_to(IDS[0])] == [one.name for one in ANSWERS[IDS[0]]] != []


@pytest.mark.parametrize("identity", IDS)
def test_every_rule_rejects_an_answer(identity: str) -> None:
    exercise = find(identity)
    assert exercise
    rules = {name for rule in exercise.check.rules for name in rule.names()}
    proven = {one.violated for one in ANSWERS[identity]}
    assert sorted(rules - proven) == [], "add a wrong answer that violates the rule, or remove the rule"


@by_answer(is_right=True)
def test_right_answer_passes(identity: str, one: KnownAnswer) -> None:
    passes(identity, one, SEED)


@by_answer(is_right=False)
def test_wrong_answer_gets_its_report(identity: str, one: KnownAnswer) -> None:
    gets_its_report(identity, one, SEED)


def passes(identity: str, one: KnownAnswer, seed: int) -> None:
    report = check(identity, one.answer, seed=seed)
    assert report.passed, repr(report)


def gets_its_report(identity: str, one: KnownAnswer, seed: int) -> None:
    exercise = find(identity)
    assert exercise
    if "loop for ever" in one.says:  # The usual time limit would make the test slow.
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
