"""The book's solution of an exercise as a standalone program, with only the statements that it needs."""

from __future__ import annotations

import ast
import dataclasses
import functools
import itertools
import sys
import types
from pathlib import Path
from typing import Any

from fxbook import tasks
from fxbook.learning.sheets import Sheet
from press.book import the_book

# The name of the module in which an answer runs; pickle looks for its classes there.
MODULE = "an_answer"


@dataclasses.dataclass(frozen=True)
class Program:
    """The solution of an exercise.

    Args:
        exercise: its id.
        answer: the name of the answer in the source.
        texts: the statements that the answer needs.
        own: the indices of the statements that the solution adds to the sheet.
    """

    exercise: str
    answer: str
    texts: tuple[str, ...]
    own: tuple[int, ...]

    def source(self) -> str:
        return "\n".join(self.texts)


def answer_of(source: str, name: str) -> Any:
    """Run the source of an answer and return the answer."""
    module = types.ModuleType(MODULE)
    sys.modules[MODULE] = module
    exec(compile(source, f"<{MODULE}>", "exec"), vars(module))
    return getattr(module, name)


def solution_of(exercise_id: str) -> Program:
    chapter = tasks.folder_of(exercise_id).parent.name
    sheet = _sheet(chapter)
    statements = [text for cell in sheet.opening if cell.kind == "code" for text in _statements(cell.source)]
    upto = itertools.takewhile(lambda exercise: exercise.id != exercise_id, sheet.exercises)
    for earlier in upto:
        statements += [text for code in earlier.code for text in _statements(code.solution.source)]
    (exercise,) = (exercise for exercise in sheet.exercises if exercise.id == exercise_id)
    added: set[int] = set()
    for code in exercise.code:
        texts = _statements(code.solution.source)
        added |= set(range(len(statements), len(statements) + len(texts))) if code.is_answer else set()
        statements += texts
    kept = [at for at, text in enumerate(Sheet(Path(), tuple(statements)).only_for(exercise.answer).cells) if text]
    own = tuple(place for place, at in enumerate(kept) if at in added)
    return Program(exercise_id, exercise.answer, tuple(statements[at] for at in kept), own)


@functools.cache
def _sheet(chapter: str) -> Any:
    return the_book().sheet_of(chapter)


def _statements(source: str) -> list[str]:
    return list(map(ast.unparse, ast.parse(source).body))
