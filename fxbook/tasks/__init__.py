"""The exercises: a folder for each chapter, ``NN_name``, which contains a folder for each exercise, with all its files.

A project that belongs to no chapter has a folder of the same kind, ``PN_name``: its milestones are exercises.

- ``task.md``: the task, the stub, the solution, two hints, why, and what to try once it passes;
- ``cases.py``: ``USAGE``, how an answer is used and on which models; only this is copied to where answers run;
- ``check.py``: ``CHECK``, what is required of an answer;
- ``answers.py``: right answers, and wrong ones with the report that each deserves and the part of the task that it
breaks.

What exercises of a chapter share is next to them, under the same four names (the opening of the sheet is
``opening.md``); which file goes where is decided by its name alone. The chapter's ``__init__.py`` holds ``ORDER``, the
folders in the order of the book. An exercise's id is made from both folders: ``03_replacement/drop_dropout`` is
``03-drop-dropout``.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path

from fxbook.cases.exercise import Check, Exercise, Usage
from fxbook.catalogue import SHEETS

_FOLDER = Path(__file__).parent


def find(exercise_id: object) -> Exercise | None:
    """The exercise with that id, or ``None``; only its own modules are imported.

    What students get contains only the chapters assigned to them. Where answers run, there is no check: there, the
    exercise has no rules.
    """
    number, _, slug = str(exercise_id).partition("-")
    folder = slug.replace("-", "_")
    chapter = _chapters().get(number)
    if chapter is None or exercise_id != _id(chapter, folder) or folder not in order(chapter):
        return None
    package = f"{__name__}.{chapter}.{folder}"
    usage: Usage = importlib.import_module(f"{package}.cases").USAGE
    is_asked = importlib.util.find_spec(f"{package}.check") is not None
    check: Check = importlib.import_module(f"{package}.check").CHECK if is_asked else Check(())
    return Exercise(str(exercise_id), usage, check)


def ids(of: Sequence[str] = ()) -> list[str]:
    """The id of every exercise in the order of the book; or of some chapters, ``("02",)``."""
    named = [_chapters()[number] for number in of or chapters()]
    return [_id(chapter, folder) for chapter in named for folder in order(chapter)]


def all_exercises(of: Sequence[str] = ()) -> tuple[Exercise, ...]:
    """Every exercise in the order of the book; or only those of some chapters, ``("02",)``: no others are imported."""
    return tuple(exercise for name in ids(of) if (exercise := find(name)))


def chapters() -> list[str]:
    """The numbers of the chapters whose exercises are here, such as ``"02"``."""
    return sorted(_chapters())


def order(chapter: str) -> tuple[str, ...]:
    """The chapter folders, such as ``"03_replacement"``, in the order of the book."""
    return importlib.import_module(f"{__name__}.{chapter}").ORDER


def folder_of(exercise_id: str) -> Path:
    """The folder of an exercise."""
    number, _, slug = exercise_id.partition("-")
    return _FOLDER / _chapters()[number] / slug.replace("-", "_")


@functools.cache
def _chapters() -> dict[str, str]:
    """The names of the chapters' folders, by number."""
    return {path.parent.name[:2]: path.parent.name for path in sorted(_FOLDER.glob(f"{SHEETS}/__init__.py"))}


def _id(chapter: str, folder: str) -> str:
    return f"{chapter[:2]}-{folder.replace('_', '-')}"
