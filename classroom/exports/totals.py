"""Write one row for each student: points by exercise, the penalty for lateness, and the total."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from classroom.assignment import Assignment
from classroom.grade.gradebook import write_rows
from classroom.grade.records import Mark, Participant

NAME = "totals.csv"


@dataclasses.dataclass(frozen=True)
class Total:
    """A student's total, after the ``penalty``; ``ungraded`` counts exercises that still have to be graded."""

    points: float
    out_of: float
    late_days: int
    penalty: float
    ungraded: int


def totals(marks: Sequence[Mark]) -> Mapping[str, Total]:
    by_key: dict[str, list[Mark]] = {}
    for mark in marks:
        by_key.setdefault(mark.key, []).append(mark)
    return {
        key: Total(
            round(sum(mark.points for mark in own), 6),
            round(sum(mark.out_of for mark in own), 6),
            max(mark.late_days for mark in own),
            round(sum(mark.penalty for mark in own), 6),
            sum(mark.status == "error" for mark in own),
        )
        for key, own in by_key.items()
    }


def write(folder: Path, assignment: Assignment, people: Sequence[Participant], marks: Sequence[Mark]) -> Path:
    """Write ``totals.csv``, with a row for each student who has a mark.

    Raises:
        classroom.grade.gradebook.GradebookError: it cannot be written.
    """
    ids = [about.id for about in assignment.exercises]
    points = {(mark.key, mark.exercise): mark.points for mark in marks}
    total_of = totals(marks)
    columns = ["student", "number", "key", *ids, "late_days", "penalty", "total", "out_of", "not_graded"]
    rows = []
    for person in people:
        if total := total_of.get(person.key):
            given = [points.get((person.key, name), 0.0) for name in ids]
            late = [total.late_days, total.penalty]
            rows.append(
                [person.student, person.number, person.key, *given, *late, total.points, total.out_of, total.ungraded]
            )
    write_rows(folder / NAME, columns, rows)
    return folder / NAME
