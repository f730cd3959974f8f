"""Marks as Gradescope's ``results.json``: of each exercise the public checks and the hidden variants, if it has any."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from classroom.assignment import Assignment
from classroom.exports import ExportError
from classroom.grade import hidden, private
from classroom.grade.records import UNSEEN, Mark
from fxbook.learning.exercises import About, about, place

JSON = Any
_WHY = {
    "missing": "Nothing was handed in for this exercise.",
    "unreadable": "What was handed in cannot be read.",
}
# Shown before the deadline, they could be searched by trial.
_LATER = "after_due_date"


def results(assignment: Assignment, marks: Sequence[Mark]) -> JSON:
    """What Gradescope shows of one student.

    Args:
        assignment: what was asked.
        marks: those of one student; an exercise without a mark counts as not handed in.

    Returns:
        The document: ``score`` and ``tests``, each with its ``score`` and ``max_score``; every text in it is plain.

    Raises:
        ExportError: the grader failed on an exercise, which must not cost the student anything.
    """
    by_exercise = {mark.exercise: mark for mark in marks}
    tests = []
    for exercise in assignment.exercises:
        worth = assignment.points[exercise.id]
        mark = by_exercise.get(exercise.id, Mark("", "", exercise.id, "missing", out_of=worth))
        if mark.status == "error":
            whose = f" of {mark.student}" if mark.student else ""
            raise ExportError(f"{exercise.id}{whose} is not graded: the grader failed on it. Run `grade` again first.")
        tests += _tests(assignment, exercise, mark)
    penalty = sum(mark.penalty for mark in marks)
    days = max((mark.late_days for mark in marks if mark.penalty), default=0)
    late = f"\n{days} {'day' if days == 1 else 'days'} late: {penalty:g} points are taken off." if penalty else ""
    return {
        "score": _rounded(sum(test["score"] for test in tests) - penalty),
        "output": assignment.title + late,
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def write_results(assignment: Assignment, marks: Iterable[Mark], folder: Path) -> list[Path]:
    """Write ``KEY/results.json`` below a folder for each student of a gradebook.

    Returns:
        The files.

    Raises:
        ExportError: the grader failed on an exercise of a student, or the folder cannot be written.
    """
    students: dict[str, list[Mark]] = {}
    for mark in marks:
        students.setdefault(mark.key, []).append(mark)
    documents = {folder / key / "results.json": results(assignment, own) for key, own in students.items()}
    for path, document in documents.items():
        try:
            private.make_folder(path.parent)
            private.write(path, as_text(document).encode())
        except OSError as error:
            raise ExportError(f"{path} cannot be written ({error.strerror or error}).") from error
    return list(documents)


def as_text(document: JSON) -> str:
    """The document as it stands in the file."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _tests(assignment: Assignment, exercise: About, mark: Mark) -> list[JSON]:
    worth = assignment.points[exercise.id]
    variants = hidden.read(assignment.hidden)
    if not variants.seeds and exercise.id not in variants.exercises:
        return [_test(exercise, "public checks", mark.status == "passed", worth, _message(mark))]
    public = mark.status in ("passed", "public")
    share = worth * assignment.public_share
    on_hidden = "" if mark.status == "passed" else UNSEEN if public else "The public checks come first."
    return [
        _test(exercise, "public checks", public, share, "" if public else _message(mark)),
        {**_test(exercise, "hidden variants", mark.status == "passed", worth - share, on_hidden), "visibility": _LATER},
    ]


def _test(exercise: About, what: str, passed: bool, worth: float, message: str) -> JSON:
    return {
        "name": f"{exercise.id} ({exercise.title}): {what}",
        "score": _rounded(worth) if passed else 0.0,
        "max_score": _rounded(worth),
        "status": "passed" if passed else "failed",
        "output": message or (f"{what.capitalize()} passed." if passed else "Not yet."),
        "visibility": "visible",
    }


def _message(mark: Mark) -> str:
    """What a student may read of a mark on the public checks."""
    lines = [mark.message or _WHY.get(mark.status, "")]
    lines += [f"In your code: {mark.line}"] if mark.line else []
    lines += [f"Node: {mark.node}"] if mark.node else []
    read = mark.read or about(mark.exercise).read
    lines += [f"Read: {place(read)}"] if read and mark.status == "failed" else []
    return "\n".join(line for line in lines if line)


def _rounded(points: float) -> float:
    return round(float(points), 6)
