"""Of several versions the one counts that the assignment says, exercise by exercise, and the row says which and why."""

from __future__ import annotations

import dataclasses

import pytest

from classroom.assignment import Assignment
from classroom.collect.lateness import Deadline, Rule
from classroom.grade import work
from classroom.grade.choosing import MOST_GRADED, Choice
from classroom.grade.jobs import Job
from classroom.grade.records import Mark, Submission, Version
from classroom.sandbox import Sandbox, for_reading
from tests.classroom import students as class_
from tests.classroom.grade.parts import ASSIGNMENT, CHAPTER, EXERCISES, few

ORDER, CLAMP = EXERCISES
RIGHT = {name: class_.solution(name) for name in EXERCISES}
WRONG = {name: next(one for one in class_.answers(name) if one.rule) for name in EXERCISES}
BOTH = class_.as_bytes(class_.notebook(CHAPTER, RIGHT))
ORDER_ALONE = class_.as_bytes(class_.notebook(CHAPTER, {ORDER: RIGHT[ORDER]}))
BOTH_WRONG = class_.as_bytes(class_.notebook(CHAPTER, WRONG))
UNTOUCHED = class_.as_bytes(class_.notebook(CHAPTER, {}))
EMPTIED = class_.from_cells(["1 + 1"])
DAMAGED = UNTOUCHED[: len(UNTOUCHED) // 2]


def handed_in(*sheets: bytes | tuple[bytes, int], ranks: tuple[int, ...] = ()) -> Submission:
    """Versions in their order, each with how many days it is late."""
    told = [one if isinstance(one, tuple) else (one, 0) for one in sheets]
    ordered = ranks or tuple(range(len(told)))
    names = [f"{number}.ipynb" for number in range(1, len(told) + 1)]
    made = tuple(
        Version(name, data, f"a/{name}", "", rank, number, late)
        for number, (name, (data, late), rank) in enumerate(zip(names, told, ordered, strict=True), 1)
    )
    one = Submission("anna", "Anna", attempts={CHAPTER: len(made)}, versions={CHAPTER: made})
    return one.with_version(CHAPTER, made[-1])


def counted(one: Submission, counts: str = "last begun", **changes: object) -> dict[str, list[str]]:
    """Of each exercise what is said of the versions that may count."""
    asked = dataclasses.replace(few(), counts=counts, **changes)
    choice = Choice(Job(one, asked, True, 1), CHAPTER, for_reading())
    return {about.id: [found.said for found in choice.for_exercise(about)] for about in asked.exercises}


@pytest.mark.parametrize("later", [UNTOUCHED, EMPTIED], ids=["untouched", "emptied"])
def test_a_later_copy_in_which_nothing_was_begun_wipes_nothing(later: bytes) -> None:
    told = counted(handed_in(BOTH, ORDER_ALONE, later))
    assert told[ORDER] == ["2.ipynb, the second of 3 versions: the last in which it was begun"]
    assert told[CLAMP] == ["1.ipynb, the first of 3 versions: the last in which it was begun"]


def test_the_last_counts_where_the_assignment_says_so_and_where_nothing_was_begun() -> None:
    last = "3.ipynb, the third of 3 versions: "
    assert counted(handed_in(BOTH, BOTH_WRONG, UNTOUCHED), "last")[ORDER] == [last + "the last"]
    assert counted(handed_in(UNTOUCHED, EMPTIED, UNTOUCHED + b" "))[ORDER] == [last + "it was begun in none"]
    assert counted(handed_in(BOTH))[ORDER] == ["1.ipynb"]


def test_a_version_that_cannot_be_read_wipes_nothing_and_is_told() -> None:
    told = counted(handed_in(BOTH, DAMAGED))[ORDER]
    assert told == ["1.ipynb, the first of 2 versions: the last in which it was begun; 2.ipynb cannot be read"]
    refused = dataclasses.replace(handed_in(BOTH, b"").versions[CHAPTER][1], problem="2.ipynb has 11 MB.")
    one = handed_in(BOTH, b"")
    one = dataclasses.replace(one, versions={CHAPTER: (one.versions[CHAPTER][0], refused)}).with_version(
        CHAPTER, refused
    )
    assert "2.ipynb cannot be read" in counted(one)[ORDER][0]
    assert mark_of(one, "last").status == "unreadable" and "11 MB" in mark_of(one, "last").message


def test_where_nobody_can_tell_which_is_the_last_the_one_that_was_begun_counts() -> None:
    assert "1.ipynb" in counted(handed_in(BOTH, UNTOUCHED, ranks=(0, 0)))[ORDER][0]
    one = handed_in(BOTH, BOTH_WRONG, ranks=(0, 0))
    assert mark_of(one).status == "unreadable"
    assert "nothing tells which is the last (a/1.ipynb, a/2.ipynb)" in mark_of(one).message
    # Which is the best can be told all the same.
    assert len(counted(one, "best")[ORDER]) == 2


def test_for_the_best_the_last_few_that_were_begun_are_graded() -> None:
    versions = [BOTH + b" " * number for number in range(MOST_GRADED + 2)]
    told = counted(handed_in(*versions, UNTOUCHED), "best")[ORDER]
    assert [one.partition(".")[0] for one in told] == ["3", "4", "5", "6", "7"]


def test_a_sheet_is_read_only_if_it_may_count(monkeypatch: pytest.MonkeyPatch) -> None:
    from classroom.collect import reading
    from classroom.grade import choosing

    read: list[str] = []

    def counting(submission: Submission, asked: Assignment, chapter: str, sandbox: Sandbox) -> reading.Read:
        read.append(submission.names[chapter])
        return reading.read_sheet(submission, asked, chapter, sandbox)

    monkeypatch.setattr(choosing, "read_sheet", counting)
    counted(handed_in(UNTOUCHED, BOTH_WRONG, BOTH))
    assert read == ["3.ipynb"]


@pytest.mark.parametrize(("number", "said"), [(1, "first"), (10, "tenth"), (11, "11th"), (21, "21st"), (32, "32nd")])
def test_a_number_is_said_as_people_say_it(number: int, said: str) -> None:
    from classroom.grade.choosing import _nth

    assert _nth(number) == said


# ---- and what it gives -----------------------------------------------------------------------------------------------


def mark_of(one: Submission, counts: str = "last begun", **rule: float) -> Mark:
    asked = dataclasses.replace(few(ORDER), counts=counts, deadline=Deadline(rule=Rule(**rule)))
    try:
        [told] = work.grade(Job(one, asked, True, 5))
    finally:
        work.close()
    return Mark.from_json(told)


def test_the_best_version_is_the_best_after_what_lateness_takes() -> None:
    asked = ASSIGNMENT.points[ORDER]
    found = mark_of(handed_in(BOTH_WRONG, (BOTH, 2), (BOTH + b" ", 3), (BOTH_WRONG + b" ", 4)), "best", per_day=0.25)
    assert (found.status, found.points, found.penalty) == ("passed", asked / 2, asked / 2), found
    assert found.version == "2.ipynb, the second of 4 versions: the best of them" and found.late_days == 2
    assert found.attempts == 4
    same = mark_of(handed_in(BOTH, BOTH + b" "), "best")
    assert same.version.startswith("2.ipynb"), "of equals the last"


def test_lateness_is_that_of_the_version_that_counts() -> None:
    asked = ASSIGNMENT.points[ORDER]
    one = mark_of(handed_in(BOTH, (UNTOUCHED, 9)), per_day=0.1)
    assert (one.points, one.late_days, one.penalty) == (asked, 0, 0)
    late = mark_of(handed_in(ORDER_ALONE, (BOTH, 3)), per_day=0.1, at_most=0.2)
    assert (late.points, late.late_days, late.penalty) == (asked * 0.8, 3, asked * 0.2)
    assert late.status == "passed" and late.out_of == asked
    nothing = mark_of(handed_in((UNTOUCHED, 3)), per_day=0.1)
    assert (nothing.status, nothing.late_days, nothing.penalty) == ("missing", 0, 0)
