"""Find the answers in a sheet that a student handed in: what it says is theirs, so this runs confined.

Of an answer that is defined more than once the last definition counts, as in a notebook that is run from top to bottom;
but never the stub as it was handed out, which may stand below a cell that was added for the answer.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping
from typing import Any

from fxbook import sheets

JSON = Any


def parsed_sheet(name: str, data: bytes, answers: Mapping[str, str]) -> JSON:
    """What the grader needs to know of a sheet, as JSON.

    Args:
        name: of the file.
        data: its bytes.
        answers: of each answer that is asked for the stub as it was handed out, ``""`` where that is not known.

    Returns:
        ``{"problem"}``, or ``{"cells", "homes", "alone", "untouched"}``; see :class:`classroom.reading.Read`.
    """
    try:
        sheet = sheets.parse(name, data)
    except sheets.SheetError as problem:
        return {"problem": str(problem)}
    for answer, stub in answers.items():
        sheet = _without_stub(sheet, answer, stub)
    untouched = [
        answer
        for answer, stub in answers.items()
        if (homes := sheet.homes(answer)) and stub and all(_same(sheet.cells[number - 1], stub) for number in homes)
    ]
    alone = {answer: [at for at, cell in enumerate(sheet.only_for(answer).cells, 1) if cell] for answer in answers}
    return {
        "cells": sheet.cells,
        "homes": {answer: sheet.homes(answer) for answer in answers},
        "alone": alone,
        "untouched": untouched,
    }


def _without_stub(sheet: sheets.Sheet, answer: str, stub: str) -> sheets.Sheet:
    """The sheet with the stub of an answer blank, where other cells give all the names that it gives."""
    left = {number for number in sheet.homes(answer) if stub and _same(sheet.cells[number - 1], stub)}
    others = [sheet.given(number) for number in range(1, len(sheet.cells) + 1) if number not in left]
    if not all(sheet.given(number) <= set().union(*others) for number in left):
        return sheet
    cells = tuple("" if number in left else cell for number, cell in enumerate(sheet.cells, 1))
    return dataclasses.replace(sheet, cells=cells)


def _same(one: str, other: str) -> bool:
    """Whether two cells are the same program."""
    try:
        return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return one == other
