"""Describe an error in the learner's code by their own line, without lines from this library or torch."""

from __future__ import annotations

import linecache
import os
import sysconfig
import traceback
from pathlib import Path
from types import CodeType
from typing import Any

import torch

from fxbook.graph.naming import without_addresses
from fxbook.graph.record import plain_message

JSON = Any
_MOST = 400
_TASKS, _ANSWERS = str(Path(__file__).parent.parent / "tasks"), f"{os.sep}answers.py"
_OURS = tuple(
    str(Path(folder)) + os.sep
    for folder in {
        *(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")),
        str(Path(torch.__file__).parent),
        str(Path(__file__).parent.parent),
    }
)


def describe(error: BaseException) -> JSON:
    """An error as plain data: ``type``, ``message``, and ``line`` and ``number`` of the learner's code, or ``None``.

    After a MemoryError, it clears the frames in the traceback, which frees the memory they hold.
    """
    line, number = _their_line(error)
    tb = error.__traceback__
    if isinstance(error, MemoryError):
        traceback.clear_frames(tb)
    return {"type": type(error).__name__, "message": _message(error), "line": line, "number": number}


def _message(error: BaseException) -> str:
    try:
        # The text of a SyntaxError in compiled code ends with a file and a line that nobody can look up.
        of_graph = isinstance(error, SyntaxError) and str(error.filename).startswith("<eval_with_key")
        said = str(error.msg if of_graph else error)
    except BaseException:
        return "(its message cannot be read)"
    # torch explains at length; the first sentence is enough.
    said = without_addresses(_first_sentence(said.strip()))
    if " of Node " in said or "references nonexistent" in said:
        said = plain_message(said)
    return said if len(said) <= _MOST else said[:_MOST] + "…"


def _first_sentence(said: str) -> str:
    """The first line and those that continue its sentence. Text after an empty line is an example."""
    first, *more = map(str.strip, said.splitlines() or [""])
    for line in more:
        if not line or not first.endswith((",", ":")) or len(first) > _MOST:
            break
        first = f"{first} {line}"
    return first.removesuffix(":")


def _their_line(error: BaseException) -> tuple[str | None, int | None]:
    found: tuple[CodeType, int] | None = None
    tb = error.__traceback__
    while tb is not None:
        code = tb.tb_frame.f_code
        if theirs(code.co_filename):
            found = code, tb.tb_lineno
        tb = tb.tb_next
    if found is None:
        return None, None
    code, number = found
    return linecache.getline(code.co_filename, number).strip()[:200] or None, number


def theirs(filename: str) -> bool:
    if filename.startswith("<"):
        # "<eval_with_key>.3" is code that torch.fx compiled, "<frozen …>" Python's own.
        return not filename.startswith(("<eval_with_key", "<frozen", "<__"))
    # Known answers are in the exercise's folder, and count as a learner's.
    return not filename.startswith(_OURS) or (filename.startswith(_TASKS) and filename.endswith(_ANSWERS))
