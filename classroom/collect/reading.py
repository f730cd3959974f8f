"""Read a student's sheet through the sandbox, where :mod:`classroom.collect.parsing` does the work."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from classroom.assignment import Assignment
from classroom.grade.gradebook import EXERCISES
from classroom.grade.records import Submission
from classroom.sandbox import Sandbox, for_reading
from fxbook.grading import catalogue, sheets

JSON = Any
# Limits in characters on a sentence or name, and on the kept text of an answer: a malicious file may have taken over
# the process that read it.
_MOST_SAID, _MOST_KEPT = 1000, 6000


@dataclasses.dataclass(frozen=True)
class ParsedSheet:
    """The sheet of one chapter, or the reason why there is none.

    Args:
        sheet: ``None`` if nothing was handed in or the file cannot be read.
        problem: why it cannot be read, for the student.
        reason: the same for the teacher.
        defined_in: for each answer, the numbers (from 1) of the cells that define it.
        required_cells: for each answer, the numbers of the cells that it needs.
        untouched: the answers that are unchanged from the handout.
        renamed_to: for each answer that has another name, that name, found through the call to ``check``.
        called: the expression passed to ``check``, if it does not identify an answer.
        worked: whether the student added anything to the sheet.
        unused_functions: the student's functions that no answer uses.
        texts: for each answer, the student's code as written and normalised for comparison.
    """

    sheet: sheets.Sheet | None
    problem: str = ""
    reason: str = ""
    defined_in: Mapping[str, Sequence[int]] = dataclasses.field(default_factory=dict)
    required_cells: Mapping[str, Sequence[int]] = dataclasses.field(default_factory=dict)
    untouched: frozenset[str] = frozenset()
    renamed_to: Mapping[str, str] = dataclasses.field(default_factory=dict)
    called: Mapping[str, str] = dataclasses.field(default_factory=dict)
    worked: bool = False
    unused_functions: Sequence[str] = ()
    texts: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)

    def only(self, answer: str) -> sheets.Sheet | None:
        """The sheet with only the cells that the answer needs, or ``None`` if it needs all of them."""
        numbers = set(self.required_cells.get(answer, ()))
        if not numbers or self.sheet is None:
            return None
        cells = tuple(cell if number in numbers else "" for number, cell in enumerate(self.sheet.cells, 1))
        return None if cells == self.sheet.cells else dataclasses.replace(self.sheet, cells=cells)


def read_sheet(
    submission: Submission, assignment: Assignment, chapter: str, sandbox: Sandbox | None = None
) -> ParsedSheet:
    """Read the version of a chapter's sheet that counts. Nothing in the sheet can raise an error.

    Args:
        sandbox: the sandbox to read in; by default, the one that belongs to this process.

    Raises:
        SandboxError: the sandbox does not work.
    """
    if chapter in submission.problems:
        problem = submission.problems[chapter]
        return ParsedSheet(None, problem, problem)
    if chapter not in submission.sheets:
        return ParsedSheet(None)
    name, data = submission.names[chapter], submission.sheets[chapter]
    exercises = [about for about in assignment.exercises if about.chapter == chapter]
    answers = {about.answer: {"exercise": about.id, "stub": stubs(chapter).get(about.id, "")} for about in exercises}
    parsed = (sandbox or for_reading()).read_sheet(name, data, answers, handed_out(chapter)).data
    match parsed:
        case {"problem": str(problem), "reason": str(reason)}:
            for_teacher = f"{name} cannot be read: {reason[:_MOST_SAID]}. {_ASK}"
            return ParsedSheet(None, problem[:_MOST_SAID], for_teacher)
        case dict() if _has_form(parsed, frozenset(answers)):
            pass
        case _:
            reason = "reading it takes more time or memory than any notebook needs"
            return ParsedSheet(None, f"{name} cannot be read: {reason}.", f"{name} cannot be read: {reason}. {_ASK}")
    sheet = sheets.Sheet(Path(name), tuple(parsed["cells"]))
    fields = {key: parsed[key] for key in _FIELDS}
    return ParsedSheet(sheet, untouched=frozenset(parsed["untouched"]), **fields)


_ASK = "Ask for the file again."
_FIELDS = ("defined_in", "required_cells", "renamed_to", "called", "worked", "unused_functions", "texts")


def _has_form(parsed: JSON, answers: frozenset[str]) -> bool:
    """Whether the result has the expected structure, since a malicious file may have taken over its reader."""
    match parsed:
        case {
            "cells": list(cells),
            "untouched": list(untouched),
            "worked": bool(),
            "unused_functions": list(unused),
            "defined_in": dict() as defined_in,
            "required_cells": dict() as required,
            "renamed_to": dict() as names,
            "called": dict() as called,
            "texts": dict() as texts,
        }:
            pass
        case _:
            return False
    places = [place for part in (defined_in, required) for given in part.values() for place in _listed(given)]
    short_texts = [untouched, unused, names.values(), called.values()]
    long_texts = [text for pair in texts.values() for text in _listed(pair)]
    return (
        defined_in.keys() == required.keys() == answers
        and answers.issuperset(names.keys() | called.keys() | texts.keys())
        and all(len(_listed(pair)) == 2 for pair in texts.values())
        and all(type(place) is int and 1 <= place <= len(cells) for place in places)
        and all(isinstance(text, str) for text in cells)
        and all(isinstance(text, str) and len(text) <= _MOST_SAID for part in short_texts for text in part)
        and all(isinstance(text, str) and len(text) <= _MOST_KEPT for text in long_texts)
    )


def _listed(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else [None]


@functools.cache
def stubs(chapter: str) -> Mapping[str, str]:
    """For each exercise of a chapter, the handed-out cell with the stub; empty if the notebooks do not exist."""
    sheet = sheets.Sheet(Path(chapter), handed_out(chapter))
    exercises = [about for about in catalogue().values() if about.chapter == chapter]
    return {about.id: sheet.cells[homes[-1] - 1] for about in exercises if (homes := sheet.homes(about.answer))}


@functools.cache
def handed_out(chapter: str) -> tuple[str, ...]:
    """The cells of a chapter's sheet as handed out; empty if the notebooks do not exist."""
    path = EXERCISES / f"{chapter}.ipynb"
    return sheets.read(path).cells if path.is_file() else ()
