"""The book's solution of an exercise as a standalone program, with only the statements that it needs."""

from __future__ import annotations

import ast
import dataclasses
import functools
import itertools
import sys
import types
from collections.abc import Collection
from typing import Any

from fxbook import tasks
from press.book import the_book
from tests.notebooks import bound, used

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
    statements = [statement for cell in sheet.opening if cell.kind == "code" for statement in _parsed(cell.source)]
    upto = itertools.takewhile(lambda exercise: exercise.id != exercise_id, sheet.exercises)
    for earlier in upto:
        statements += [statement for code in earlier.code for statement in _parsed(code.solution.source)]
    (exercise,) = (exercise for exercise in sheet.exercises if exercise.id == exercise_id)
    own = []
    for code in exercise.code:
        parsed = _parsed(code.solution.source)
        statements += parsed
        own += parsed if code.is_answer else []
    needed = _needed(statements, exercise.answer)
    places = tuple(index for index, statement in enumerate(needed) if statement in own)
    return Program(exercise_id, exercise.answer, tuple(map(ast.unparse, needed)), places)


@functools.cache
def _sheet(chapter: str) -> Any:
    return the_book().sheet_of(chapter)


def _parsed(source: str) -> list[ast.stmt]:
    return ast.parse(source).body


def _needed(statements: list[ast.stmt], name: str) -> list[ast.stmt]:
    """The statements that define a name, and those that they need, in order."""
    needed: list[ast.stmt] = []
    wanted, known = [name], set()
    while wanted:
        known.add(looked_up := wanted.pop())
        for statement in statements:
            if looked_up in _binds(statement) and statement not in needed:
                needed.append(statement)
                wanted += used(statement) - known
    return [statement for statement in statements if statement in needed or _wraps(statement, known)]


def _binds(statement: ast.stmt) -> Collection[str]:
    """The names that a statement defines or changes."""
    match statement:
        case ast.AugAssign(ast.Name(name)):
            return {name}
    return bound(statement)


def _wraps(statement: ast.stmt, known: Collection[str]) -> bool:
    """Whether the statement is ``fx.wrap("name")`` for a known name."""
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(_, "wrap"), [ast.Constant(str(name))])):
            return name in known
    return False
