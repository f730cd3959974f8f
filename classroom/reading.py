"""Read what a student handed in, in a child process with limits: a file can be made so that reading it never ends."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jupytext  # noqa: F401  (here, and not in each child that reads a sheet)
import nbformat  # noqa: F401

from classroom.assignment import Assignment
from classroom.gradebook import EXERCISES
from classroom.parsing import parsed_sheet
from classroom.records import Submission
from fxbook import sheets
from fxbook.checking.apart import run_apart
from fxbook.exercises import catalogue

JSON = Any
_SECONDS = 20.0


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


def read_sheet(submission: Submission, assignment: Assignment, chapter: str) -> Read:
    """Read the sheet of a chapter that counts; never raises for what is in it."""
    if chapter in submission.problems:
        return Read(None, submission.problems[chapter])
    if chapter not in submission.sheets:
        return Read(None)
    name, data = submission.names[chapter], submission.sheets[chapter]
    asked = [about for about in assignment.exercises if about.chapter == chapter]
    answers = {about.answer: stubs(chapter).get(about.id, "") for about in asked}
    try:
        found = run_apart(functools.partial(parsed_sheet, name, data, answers), _SECONDS).data
    except RecursionError:
        found = None
    if found is None:
        return Read(None, f"{name} cannot be read: that takes more time or memory than any notebook needs.")
    if "problem" in found:
        return Read(None, found["problem"])
    sheet = sheets.Sheet(Path(name), tuple(found["cells"]))
    return Read(sheet, "", found["homes"], found["alone"], frozenset(found["untouched"]))


@functools.cache
def stubs(chapter: str) -> Mapping[str, str]:
    """Of each exercise of a chapter the cell to write in, as it is handed out; nothing where the notebooks are not."""
    path = EXERCISES / f"{chapter}.ipynb"
    if not path.is_file():
        return {}
    sheet = sheets.read(path)
    found = [about for about in catalogue().values() if about.chapter == chapter]
    return {about.id: sheet.cells[homes[-1] - 1] for about in found if (homes := sheet.homes(about.answer))}
