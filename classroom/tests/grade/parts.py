"""A small assignment, submissions, marks and jobs for tests of grading."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from classroom.assignment import Assignment, of_chapters
from classroom.grade import gradebook
from classroom.grade.jobs import Job
from classroom.grade.records import Mark, Submission
from classroom.sandbox import protection
from classroom.tests import students as class_

ASSIGNMENT = of_chapters(["02"])
[CHAPTER] = ASSIGNMENT.chapters
EXERCISES = ["02-put-in-order", "02-clamp-the-output"]
UNSAFE = bool(protection().refusal)
needs_sandbox = pytest.mark.skipif(UNSAFE, reason=protection().refusal or "-")


def few(*exercises: str, **changes: Any) -> Assignment:
    """The assignment with only these exercises."""
    chosen = tuple(about for about in ASSIGNMENT.exercises if about.id in (exercises or EXERCISES))
    return dataclasses.replace(ASSIGNMENT, exercises=chosen, **changes)


def handed_in(key: str, *cells: str) -> Submission:
    data = class_.from_cells(["import torch\nfrom torch import fx, nn\nimport operator", *cells])
    return Submission(key, key.title(), {CHAPTER: data}, {CHAPTER: f"{CHAPTER}.ipynb"}, {CHAPTER: 1})


def mark(key: str, exercise: str = EXERCISES[0], **fields: Any) -> Mark:
    return Mark(key, key.title(), exercise, **{"status": "passed", "points": 1.0, "out_of": 1.0, **fields})


def jobs(place: Path, *students: str) -> list[Job]:
    return [Job(Submission(f"key-{at}", f"{name}|{place}"), ASSIGNMENT, True, 0) for at, name in enumerate(students)]


def graded_keys(out: Path) -> list[str]:
    if not (out / gradebook.NAME).exists():
        return []
    return [line["key"] for line in gradebook._lines(out / gradebook.NAME) if "marks" in line]
