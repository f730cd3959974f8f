"""A sheet of exercises, assembled from a chapter's folder.

``fxbook/tasks/NN_name/`` contains ``opening.md``, ``questions.toml``, the ``ORDER`` of the exercises in
``__init__.py``, and a folder for each exercise, named by its id without the chapter number.
"""

from __future__ import annotations

import dataclasses
import re
import runpy
from pathlib import Path

from press.manuscript.problems import PressError, Problem
from press.manuscript.questions import QUESTIONS, Question, read_questions
from press.manuscript.reading import Cell, prose_lines, read
from press.manuscript.task import Exercise, read_task

TITLE = "# Exercises: "
ORDER, OPENING, TASK, ANSWERS = "__init__.py", "opening.md", "task.md", "answers.py"
CHECKED_BY = ("cases.py", "check.py", ANSWERS)
_SLUG = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")


@dataclasses.dataclass(frozen=True)
class ExerciseSheet:
    """The opening, the questions and the exercises; ``chapter`` is the folder's name."""

    folder: Path
    title: str
    opening: tuple[Cell, ...]
    exercises: tuple[Exercise, ...]
    questions: tuple[Question, ...] = ()

    @property
    def chapter(self) -> str:
        return self.folder.name


def read_sheet(folder: Path) -> ExerciseSheet:
    """Assemble the sheet of a chapter; raises PressError with all its faults."""
    problems: list[Problem] = []
    exercises: list[Exercise] = []
    opening: tuple[Cell, ...] = ()
    questions: tuple[Question, ...] = ()
    for slug in _order(folder):
        identity = f"{folder.name[:2]}-{slug.replace('_', '-')}"
        if lacking := _lacking(folder / slug, identity):
            problems.append(lacking)
            continue
        try:
            exercises.append(read_task(folder / slug / TASK, identity))
        except PressError as error:
            problems += error.problems
    try:
        opening = _read_opening(folder / OPENING)
    except PressError as error:
        problems += error.problems
    try:
        questions = read_questions(folder / QUESTIONS)
    except PressError as error:
        problems += error.problems
    if problems:
        raise PressError(*problems)
    title = opening[0].source.split("\n", 1)[0].removeprefix(TITLE)
    return ExerciseSheet(folder, title, opening, tuple(exercises), questions)


def _read_opening(path: Path) -> tuple[Cell, ...]:
    if not path.is_file():
        raise PressError(Problem(path, 1, f"is missing: write the opening of the sheet, which begins with {TITLE!r}"))
    cells = read(path, headed=False).cells
    if not cells or not cells[0].source.startswith(TITLE):
        raise PressError(Problem(path, 1, f"the title must begin with {TITLE!r}"))
    problems = [
        Problem(path, number, "a second-level heading would look like an exercise, which has a folder of its own")
        for cell in cells
        for number, line in prose_lines(cell)
        if line.startswith("## ")
    ]
    problems += [
        Problem(path, cell.line, "a stub belongs in the task.md of an exercise, not in the opening")
        for cell in cells
        if cell.kind == "code" and re.search(r"^ *# stub$", cell.source, re.MULTILINE)
    ]
    if problems:
        raise PressError(*problems)
    return cells


def _order(folder: Path) -> tuple[str, ...]:
    path = folder / ORDER
    form = 'write ORDER = ("first_slug", "second_slug"), the folders of the exercises, and import nothing'
    try:
        order = tuple(runpy.run_path(str(path))["ORDER"])
    except FileNotFoundError:
        raise PressError(Problem(path, 1, f"is missing: {form}")) from None
    except Exception as error:
        raise PressError(
            Problem(path, 1, f"does not define ORDER ({type(error).__name__}: {error}): {form}")
        ) from error
    there = {path.parent.name for name in (TASK, *CHECKED_BY) for path in folder.glob(f"*/{name}")}
    messages = [f"{slug!r} is in ORDER twice: remove one" for slug in order if order.count(slug) > 1]
    messages += [f"{slug!r} in ORDER must be words_in_lower_case" for slug in order if not _SLUG.fullmatch(slug)]
    command = f"python -m press exercise {folder.name[:2]}-"
    messages += [
        f"{slug!r} in ORDER has no folder: `{command}{slug.replace('_', '-')}` makes one"
        for slug in order
        if _SLUG.fullmatch(slug) and slug not in there
    ]
    # A folder that has only cases and checks is shared by several exercises.
    exercises = {path.parent.name for name in (TASK, ANSWERS) for path in folder.glob(f"*/{name}")}
    unlisted = sorted(exercises - {*order})
    messages += [f"the folder {slug!r} is not in ORDER: add it where it belongs" for slug in unlisted]
    if messages:
        raise PressError(*(Problem(path, 1, message) for message in dict.fromkeys(messages)))
    return order


def _lacking(folder: Path, identity: str) -> Problem | None:
    names = [name for name in (TASK, *CHECKED_BY) if not (folder / name).is_file()]
    if not names:
        return None
    return Problem(folder / names[0], 1, f"is missing: {identity} needs {', '.join((TASK, *CHECKED_BY))} in one folder")
