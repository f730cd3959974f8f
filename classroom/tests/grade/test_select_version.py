"""The version that the assignment asks for counts for each exercise, and the row says which and why."""

from __future__ import annotations

import dataclasses

import pytest

from classroom.collect.lateness import Deadline, Rule
from classroom.grade import work
from classroom.grade.jobs import Job
from classroom.grade.records import Mark, Submission, Version
from classroom.grade.select_version import MOST_GRADED, VersionSelector
from classroom.sandbox import for_reading
from classroom.tests import students as class_
from classroom.tests.grade.parts import ASSIGNMENT, CHAPTER, EXERCISES, few

ORDER, CLAMP = EXERCISES
RIGHT = {name: class_.solution(name) for name in EXERCISES}
WRONG = {name: next(answer for answer in class_.answers(name) if answer.rule) for name in EXERCISES}
BOTH = class_.as_bytes(class_.notebook(CHAPTER, RIGHT))
ORDER_ALONE = class_.as_bytes(class_.notebook(CHAPTER, {ORDER: RIGHT[ORDER]}))
BOTH_WRONG = class_.as_bytes(class_.notebook(CHAPTER, WRONG))
UNTOUCHED = class_.as_bytes(class_.notebook(CHAPTER, {}))
EMPTIED = class_.from_cells(["1 + 1"])
DAMAGED = UNTOUCHED[: len(UNTOUCHED) // 2]


def handed_in(*sheets: bytes | tuple[bytes, int], ranks: tuple[int, ...] = ()) -> Submission:
    """Versions in order, each with the days it is late."""
    pairs = [sheet if isinstance(sheet, tuple) else (sheet, 0) for sheet in sheets]
    ordered = ranks or tuple(range(len(pairs)))
    names = [f"{number}.ipynb" for number in range(1, len(pairs) + 1)]
    versions = tuple(
        Version(name, data, f"a/{name}", "", rank, number, late)
        for number, (name, (data, late), rank) in enumerate(zip(names, pairs, ordered, strict=True), 1)
    )
    submission = Submission("anna", "Anna", attempts={CHAPTER: len(versions)}, versions={CHAPTER: versions})
    return submission.with_version(CHAPTER, versions[-1])


def counted(submission: Submission, counts: str = "last begun", **changes: object) -> dict[str, list[str]]:
    """The notes of the candidates for each exercise."""
    assignment = dataclasses.replace(few(), counts=counts, **changes)
    choice = VersionSelector(Job(submission, assignment, True, 1), CHAPTER, for_reading())
    return {about.id: [candidate.note for candidate in choice.for_exercise(about)] for about in assignment.exercises}


@pytest.mark.parametrize("later", [UNTOUCHED, EMPTIED], ids=["untouched", "emptied"])
def test_untouched_later_version_does_not_count(later: bytes) -> None:
    sentences = counted(handed_in(BOTH, ORDER_ALONE, later))
    assert sentences[ORDER] == ["2.ipynb, the second of 3 versions: the last in which it was begun"]
    assert sentences[CLAMP] == ["1.ipynb, the first of 3 versions: the last in which it was begun"]


def test_last_version_counts_on_demand_or_if_nothing_was_begun() -> None:
    last = "3.ipynb, the third of 3 versions: "
    assert counted(handed_in(BOTH, BOTH_WRONG, UNTOUCHED), "last")[ORDER] == [last + "the last"]
    assert counted(handed_in(UNTOUCHED, EMPTIED, UNTOUCHED + b" "))[ORDER] == [last + "it was begun in none"]
    assert counted(handed_in(BOTH))[ORDER] == ["1.ipynb"]


def test_unreadable_version_is_reported_and_does_not_count() -> None:
    sentences = counted(handed_in(BOTH, DAMAGED))[ORDER]
    assert sentences == ["1.ipynb, the first of 2 versions: the last in which it was begun; 2.ipynb cannot be read"]
    refused = dataclasses.replace(handed_in(BOTH, b"").versions[CHAPTER][1], problem="2.ipynb has 11 MB.")
    submission = handed_in(BOTH, b"")
    submission = dataclasses.replace(
        submission, versions={CHAPTER: (submission.versions[CHAPTER][0], refused)}
    ).with_version(CHAPTER, refused)
    assert "2.ipynb cannot be read" in counted(submission)[ORDER][0]
    assert mark_of(submission, "last").status == "unreadable" and "11 MB" in mark_of(submission, "last").message


def test_begun_version_counts_among_tied_ones() -> None:
    assert "1.ipynb" in counted(handed_in(BOTH, UNTOUCHED, ranks=(0, 0)))[ORDER][0]
    submission = handed_in(BOTH, BOTH_WRONG, ranks=(0, 0))
    assert mark_of(submission).status == "unreadable"
    assert "it is not clear which is the last (a/1.ipynb, a/2.ipynb)" in mark_of(submission).message
    # The best version can still be determined.
    assert len(counted(submission, "best")[ORDER]) == 2


def test_best_considers_the_last_few_begun() -> None:
    versions = [BOTH + b" " * number for number in range(MOST_GRADED + 2)]
    sentences = counted(handed_in(*versions, UNTOUCHED), "best")[ORDER]
    assert [sentence.partition(".")[0] for sentence in sentences] == ["3", "4", "5", "6", "7"]


# ---- points ----------------------------------------------------------------------------------------------------------


def mark_of(submission: Submission, counts: str = "last begun", **rule: float) -> Mark:
    assignment = dataclasses.replace(few(ORDER), counts=counts, deadline=Deadline(rule=Rule(**rule)))
    try:
        [row] = work.grade(Job(submission, assignment, True, 5))
    finally:
        work.close()
    return Mark.from_json(row)


def test_best_version_includes_the_penalty() -> None:
    points = ASSIGNMENT.points[ORDER]
    mark = mark_of(handed_in(BOTH_WRONG, (BOTH, 2), (BOTH + b" ", 3), (BOTH_WRONG + b" ", 4)), "best", per_day=0.25)
    assert (mark.status, mark.points, mark.penalty) == ("passed", points / 2, points / 2), mark
    assert mark.version == "2.ipynb, the second of 4 versions: the best of them" and mark.late_days == 2
    assert mark.attempts == 4
    same = mark_of(handed_in(BOTH, BOTH + b" "), "best")
    assert same.version.startswith("2.ipynb"), "of equals the last"


def test_lateness_belongs_to_the_version_that_counts() -> None:
    points = ASSIGNMENT.points[ORDER]
    mark = mark_of(handed_in(BOTH, (UNTOUCHED, 9)), per_day=0.1)
    assert (mark.points, mark.late_days, mark.penalty) == (points, 0, 0)
    late = mark_of(handed_in(ORDER_ALONE, (BOTH, 3)), per_day=0.1, at_most=0.2)
    assert (late.points, late.late_days, late.penalty) == (points * 0.8, 3, points * 0.2)
    assert late.status == "passed" and late.out_of == points
    nothing = mark_of(handed_in((UNTOUCHED, 3)), per_day=0.1)
    assert (nothing.status, nothing.late_days, nothing.penalty) == ("missing", 0, 0)
