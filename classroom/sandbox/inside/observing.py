"""The room in which students' code runs: it uses an answer and writes down what that did."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fxbook.grading import Prepared, observe, prepare, sheets, tasks

from .hidden import exercise_of
from .rooms import NotBegunError

JSON = Any
# What an answer may import, and what takes long to. Of torch, the cases of a chapter import what its answers need.
_EARLY = (
    "fxbook.drawing",
    "fxbook.errors",
    "fxbook.plotting",
    "fxbook.stepping.edit.stepper",
    "fxbook.stepping.run.stepper",
)


def get_ready(chapters: Sequence[str]) -> None:
    for name in _EARLY:
        importlib.import_module(name)
    for exercise in tasks.all_exercises(chapters):
        # So that what torch keeps when it first traces or runs something is there for every fork.
        observe(prepare(exercise, seed=0, rebuildable=True), _nothing)


def begin(task: JSON) -> Prepared:
    """The cases of an exercise, made: nothing that is left here tells the seed, or the teacher's text."""
    exercise = exercise_of(task)
    try:
        return prepare(exercise, task["seed"], rebuildable=True)
    except Exception as error:
        cause = "hidden" if task["hidden"] else "refused"
        raise NotBegunError(cause, f"{type(error).__name__}: {error}") from None


def work(prepared: Prepared, payload: JSON, files: Sequence[int] = ()) -> JSON:
    sheet = sheets.Sheet(Path(payload["name"]), tuple(payload["cells"]))
    return sheets.observe_answer(sheet, prepared, payload["answer"])


def _nothing(*_: object, **__: object) -> None:
    """An answer that does nothing."""
