"""The room that runs students' code: it uses an answer and records an observation."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fxbook.grading import Prepared, observe, prepare, sheets, tasks

from .hidden import exercise_of
from .rooms import NotBegunError

JSON = Any
# Slow imports that answers may use. A chapter's cases import from torch what its answers need.
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
        # Fills torch's caches once, for all forks.
        observe(prepare(exercise, seed=0, rebuildable=True), _nothing)


def begin(task: JSON) -> Prepared:
    """Prepare the cases of an exercise; afterwards nothing here reveals the seed or the teacher's text."""
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
