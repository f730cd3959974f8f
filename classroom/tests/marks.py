"""Marks of all kinds to report on, with messages and graphs from real wrong answers."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from classroom.assignment import Assignment, of_chapters
from classroom.grade.records import Mark
from fxbook import check
from fxbook.tasks.answering import answers_to

WRONG_ANSWERS = 3
# Students with similar answers.
ALIKE = (0, 11)
NAMES = ("Amélie Müller", "王 小明", "سارا احمدی", "Nguyễn Văn An", "Olena O'Brien", "José García")


def an_assignment(*chapters: str, hidden: bool = False) -> Assignment:
    """The assignment of these chapters, by default chapter 02."""
    assignment = of_chapters(list(chapters or ("02",)), "Week 2: edit a graph")
    return dataclasses.replace(assignment, hidden="SEEDS = 2" if hidden else "")


@functools.cache
def failed(exercise: str) -> tuple[dict[str, Any], ...]:
    """The reports on wrong answers, as fields of marks."""
    failures = []
    for wrong in [answer for answer in answers_to(exercise) if answer.violated][:WRONG_ANSWERS]:
        report = check(exercise, wrong.answer, seed=1)
        graph = report.verdict.graph
        failures.append(
            {
                "rule": report.violated,
                "message": report.message,
                "node": report.node.name if report.node else "",
                "read": report.read,
                "line": report.verdict.line or "",
                "graph": graph.to_json() if graph else None,
            }
        )
    return tuple(failures)


def marks_of(assignment: Assignment, students: int) -> list[Mark]:
    """A class with every status, if it has at least a dozen students; every fifth hands in nothing."""
    return [mark(assignment, student, at) for student in range(students) for at in range(len(assignment.exercises))]


def mark(assignment: Assignment, student: int, at: int, /, **fields: Any) -> Mark:
    """The mark of a student for an exercise, both by number."""
    exercise = assignment.exercises[at].id
    worth = assignment.points[exercise]
    own: dict[str, Any] = {
        "key": f"student-{student:03d}",
        "student": NAMES[student % len(NAMES)],
        "exercise": exercise,
        "out_of": worth,
        "attempts": 1 + (student + at) % 5,
    }
    kind = (7 * student + 3 * at) % 11
    if student in ALIKE:
        own |= {"source": f"def answer(traced):\n    return {at}", "plain": " ".join(map(str, range(at, at + 80)))}
    if student % 5 == 4:
        own |= {"status": "missing", "attempts": 0}
    elif kind < 4:
        own |= {"status": "passed", "points": worth, "unproven": ("what was let go while it ran",) if at == 1 else ()}
    elif kind < 8:
        failures = (
            failed(exercise) if exercise[:2] == "02" else ({"rule": "lints", "message": "Node `x` uses itself."},)
        )
        own |= {"status": "failed", **failures[(student + at) % len(failures)]}
    elif kind == 8 and assignment.hidden:
        own |= {
            "status": "public",
            "points": worth / 2,
            "rule": "no_dead_nodes",
            "for_teacher": "On a deep stack: dead.",
        }
    elif kind == 9:
        own |= {"status": "unreadable", "message": "02_insertion_points.ipynb is not a notebook that can be read."}
    elif kind == 10:
        own |= {"status": "error", "for_teacher": "BrokenProcessPool: a worker died"}
    else:
        own |= {
            "status": "missing",
            "remark": "No answer uses `mine`: is it an answer under another name?" if at == 2 else "",
        }
    return Mark(**{**own, **fields})
