"""Read what a student handed in; the reading itself is done in the sandbox, by :mod:`classroom.collect.parsing`."""

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
# Characters, whatever a file that takes its reader over may write: of a sentence or a name, of what an answer keeps.
_MOST_SAID, _MOST_KEPT = 1000, 6000


@dataclasses.dataclass(frozen=True)
class ParsedSheet:
    """The sheet of one chapter, or why there is none.

    Args:
        sheet: ``None`` where nothing was handed in, or what was cannot be read.
        problem: why it cannot be read, for the student.
        reason: the same for the teacher.
        defined_in: of each answer the numbers, from 1, of the cells that define it.
        required_cells: of each answer those of the cells that it needs, however many others there are.
        untouched: the answers that are as they were handed out.
        renamed_to: the name in the sheet of each answer that has another than was asked for, with which the check is
            called.
        called: what the check is called with where that tells no answer.
        worked: whether there is anything in the sheet that was not handed out.
        unused_functions: functions that were written in it and that no answer uses.
        texts: of each answer what was written for it, as it stands there and as plain text to compare with others'.
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
        """The sheet with nothing but the cells that the answer needs; ``None`` where that leaves nothing out."""
        numbers = set(self.required_cells.get(answer, ()))
        if not numbers or self.sheet is None:
            return None
        cells = tuple(cell if number in numbers else "" for number, cell in enumerate(self.sheet.cells, 1))
        return None if cells == self.sheet.cells else dataclasses.replace(self.sheet, cells=cells)


def read_sheet(
    submission: Submission, assignment: Assignment, chapter: str, sandbox: Sandbox | None = None
) -> ParsedSheet:
    """Read the sheet of a chapter that counts; never raises for what is in it.

    Args:
        submission, assignment: what was handed in, and asked.
        chapter: its name.
        sandbox: in which it is read; by default one of this process.

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
    """Whether what was read is texts and numbers of cells, whatever the file made of its reader."""
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
    """Of each exercise of a chapter the cell to write in, as it is handed out; nothing where the notebooks are not."""
    sheet = sheets.Sheet(Path(chapter), handed_out(chapter))
    exercises = [about for about in catalogue().values() if about.chapter == chapter]
    return {about.id: sheet.cells[homes[-1] - 1] for about in exercises if (homes := sheet.homes(about.answer))}


@functools.cache
def handed_out(chapter: str) -> tuple[str, ...]:
    """The cells of the sheet of a chapter as it is handed out; none where the notebooks are not."""
    path = EXERCISES / f"{chapter}.ipynb"
    return sheets.read(path).cells if path.is_file() else ()
