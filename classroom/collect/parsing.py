"""Find the answers in a student's sheet. The content is untrusted, so this runs in the sandbox.

The last definition of an answer counts, as in a notebook that runs from top to bottom, unless it is the unchanged stub,
which may be below a cell that was added for the answer. An answer under another name is found through the call to
``check`` that uses it.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from classroom.collect import normalise
from fxbook.grading import parsed, sheets

JSON = Any
_MOST_WRITTEN = 120
_MOST_SPARE = 10


def parsed_sheet(name: str, data: bytes, answers: Mapping[str, JSON], handed_out: Sequence[str] = ()) -> JSON:
    """Extract as JSON what the grader needs from a sheet.

    Args:
        answers: for each answer, ``{"exercise", "stub"}``: the exercise's id, and the handed-out cell in which the
            student writes the answer (``""`` if unknown).
        handed_out: the cells as they were handed out.

    Returns:
        ``{"problem", "reason"}``, or ``"cells"``, ``"untouched"`` and the fields of
        :class:`classroom.collect.reading.ParsedSheet`.
    """
    try:
        sheet = sheets.parse(name, data)
    except sheets.SheetError as problem:
        return {"problem": str(problem), "reason": problem.reason}
    for answer, about in answers.items():
        sheet = _without_stub(sheet, answer, about["stub"])
    untouched = [answer for answer, about in answers.items() if _is_stub(sheet, answer, about["stub"])]
    given = frozenset().union(*(sheets.names(cell).given for cell in handed_out), answers)
    renamed, called = {}, {}
    for answer, about in answers.items():
        if not sheet.homes(answer) or answer in untouched:
            passed = _checked(sheet, about["exercise"])
            if isinstance(passed, ast.Name) and passed.id not in given and sheet.homes(passed.id):
                renamed[answer] = passed.id
            elif passed is not None and not (isinstance(passed, ast.Name) and passed.id == answer):
                called[answer] = _written(passed)
    names = {answer: renamed.get(answer, answer) for answer in answers}
    required = {
        answer: [at for at, cell in enumerate(sheet.only_for(name).cells, 1) if cell] for answer, name in names.items()
    }
    own = normalise.StudentCode(sheet.cells, handed_out)
    begun = {answer: name for answer, name in names.items() if answer in renamed or answer not in untouched}
    return {
        "cells": sheet.cells,
        "defined_in": {answer: sheet.homes(name) for answer, name in names.items()},
        "required_cells": required,
        "untouched": [answer for answer in untouched if answer not in renamed],
        "renamed_to": renamed,
        "called": called,
        "worked": own.any,
        "unused_functions": own.unused(frozenset({*begun.values(), *given}))[:_MOST_SPARE],
        "texts": {answer: own.texts(name) for answer, name in begun.items() if sheet.homes(name)},
    }


def _is_stub(sheet: sheets.Sheet, answer: str, stub: str) -> bool:
    homes = sheet.homes(answer)
    return bool(homes and stub) and all(_same(sheet.cells[number - 1], stub) for number in homes)


def _without_stub(sheet: sheets.Sheet, answer: str, stub: str) -> sheets.Sheet:
    """Blank the answer's stub if other cells define all of its names."""
    stub_cells = {number for number in sheet.homes(answer) if stub and _same(sheet.cells[number - 1], stub)}
    others = [sheet.given(number) for number in range(1, len(sheet.cells) + 1) if number not in stub_cells]
    if not all(sheet.given(number) <= set().union(*others) for number in stub_cells):
        return sheet
    cells = tuple("" if number in stub_cells else cell for number, cell in enumerate(sheet.cells, 1))
    return dataclasses.replace(sheet, cells=cells)


def _same(first: str, second: str) -> bool:
    try:
        return ast.dump(ast.parse(first)) == ast.dump(ast.parse(second))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return first == second


def _checked(sheet: sheets.Sheet, exercise: str) -> ast.expr | None:
    last = None
    for cell in sheet.cells:
        tree = parsed(cell)
        if tree is None or exercise not in cell:
            continue
        calls = [node for node in ast.walk(tree[0]) if isinstance(node, ast.Call) and _checks(node, exercise)]
        for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
            last = _argument(call, 1, "answer") or last
    return last


def _checks(call: ast.Call, exercise: str) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    first = _argument(call, 0, "exercise_id")
    return name == "check" and isinstance(first, ast.Constant) and first.value == exercise


def _argument(call: ast.Call, at: int, name: str) -> ast.expr | None:
    if at < len(call.args):
        return call.args[at]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _written(expression: ast.expr) -> str:
    try:
        text = ast.unparse(expression)
    except (RecursionError, ValueError):
        return "…"
    return text if len(text) <= _MOST_WRITTEN else text[: _MOST_WRITTEN - 1] + "…"
