"""Read what a student handed in; the reading itself is done in the sandbox, by :mod:`classroom.parsing`."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from classroom.assignment import Assignment
from classroom.gradebook import EXERCISES
from classroom.records import Submission
from classroom.sandbox import Sandbox, for_reading
from fxbook import sheets
from fxbook.exercises import catalogue

JSON = Any


@dataclasses.dataclass(frozen=True)
class Read:
    """The sheet of one chapter, or why there is none.

    Args:
        sheet: ``None`` where nothing was handed in, or what was cannot be read.
        problem: why it cannot be read, for the student.
        homes: of each answer the numbers, from 1, of the cells that define it.
        alone: of each answer those of the cells that it needs, however many others there are.
        untouched: the answers that are as they were handed out.
    """

    sheet: sheets.Sheet | None
    problem: str = ""
    homes: Mapping[str, Sequence[int]] = dataclasses.field(default_factory=dict)
    alone: Mapping[str, Sequence[int]] = dataclasses.field(default_factory=dict)
    untouched: frozenset[str] = frozenset()

    def only(self, answer: str) -> sheets.Sheet | None:
        """The sheet with nothing but the cells that the answer needs; ``None`` where that leaves nothing out."""
        kept = set(self.alone.get(answer, ()))
        if not kept or self.sheet is None:
            return None
        cells = tuple(cell if number in kept else "" for number, cell in enumerate(self.sheet.cells, 1))
        return None if cells == self.sheet.cells else dataclasses.replace(self.sheet, cells=cells)


def read_sheet(submission: Submission, assignment: Assignment, chapter: str, sandbox: Sandbox | None = None) -> Read:
    """Read the sheet of a chapter that counts; never raises for what is in it.

    Args:
        submission, assignment: what was handed in, and asked.
        chapter: its name.
        sandbox: in which it is read; by default one of this process.

    Raises:
        SandboxError: the sandbox does not work.
    """
    if chapter in submission.problems:
        return Read(None, submission.problems[chapter])
    if chapter not in submission.sheets:
        return Read(None)
    name, data = submission.names[chapter], submission.sheets[chapter]
    asked = [about for about in assignment.exercises if about.chapter == chapter]
    answers = {about.answer: stubs(chapter).get(about.id, "") for about in asked}
    found = (sandbox or for_reading()).read_sheet(name, data, answers).data
    match found:
        case {"problem": str(problem)}:
            return Read(None, problem)
        case {"cells": list(), "homes": dict(), "alone": dict(), "untouched": list()} if _has_form(found, answers):
            pass
        case _:
            return Read(None, f"{name} cannot be read: that takes more time or memory than any notebook needs.")
    sheet = sheets.Sheet(Path(name), tuple(found["cells"]))
    return Read(sheet, "", found["homes"], found["alone"], frozenset(found["untouched"]))


def _has_form(found: JSON, answers: Mapping[str, str]) -> bool:
    """Whether what was read is texts and numbers of cells, whatever the file made of its reader."""
    cells, untouched = found["cells"], found["untouched"]
    places = [place for part in ("homes", "alone") for name in answers for place in _places(found[part].get(name))]
    return (
        all(isinstance(text, str) for text in (*cells, *untouched))
        and all(type(place) is int and 1 <= place <= len(cells) for place in places)
        and found["homes"].keys() == found["alone"].keys() == answers.keys()
    )


def _places(told: JSON) -> list[JSON]:
    return told if isinstance(told, list) else [None]


@functools.cache
def stubs(chapter: str) -> Mapping[str, str]:
    """Of each exercise of a chapter the cell to write in, as it is handed out; nothing where the notebooks are not."""
    path = EXERCISES / f"{chapter}.ipynb"
    if not path.is_file():
        return {}
    sheet = sheets.read(path)
    found = [about for about in catalogue().values() if about.chapter == chapter]
    return {about.id: sheet.cells[homes[-1] - 1] for about in found if (homes := sheet.homes(about.answer))}
