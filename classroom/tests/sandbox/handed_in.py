"""Files that are handed in to harm who reads them: those of ``attacks/reading``, and what comes of them.

The docstring of an attack says what it tries and the harm it would do; ``handed_in()`` yields the name and the bytes of
each file. A notebook or a script is read as a sheet, a zip is listed and all its files are read.
"""

from __future__ import annotations

import ast
import dataclasses
import io
import json
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from classroom import sandbox
from classroom.collect import files
from classroom.collect.files import RefusedError
from classroom.sandbox import Sandbox
from classroom.tests.sandbox.forging import spread
from classroom.tests.sandbox.harm import Came
from classroom.tests.sandbox.sandboxing import brief

READINGS = Path(__file__).parent / "attacks" / "reading"
_ANSWERS = {"put_in_order": "def put_in_order(traced):\n    pass"}
# Of a sheet, and of what one zip says of its files: what a grader's process may have to hold.
_MOST = 64 << 20


@dataclasses.dataclass(frozen=True)
class HandedIn:
    """An attack on who reads, by the name of its file."""

    name: str
    files: Callable[[], Iterator[tuple[str, bytes]]]


def attacks() -> list[HandedIn]:
    readings = []
    for path in sorted(READINGS.glob("*.py")):
        about = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        assert "\nHarm: " in about, f"{path.name}: say what harm it would do"
        readings.append(HandedIn(path.stem, runpy.run_path(str(path))["handed_in"]))
    return readings


def tried(room: Sandbox, attack: HandedIn, most: int | None = None) -> Came:
    """What came of an attack; what it managed is what no file may: a path that leads out, or more than it holds.

    Args:
        room: a sandbox that reads.
        attack: what is handed in.
        most: so many of its files, from the first to the last; ``None`` for all.
    """
    chosen = set(spread(sum(1 for _ in attack.files()), most))
    texts, managed = [], []
    with pytest.MonkeyPatch.context() as patched, brief(room, reading_seconds=1.0):
        patched.setattr(sandbox, "for_reading", lambda: room)
        for place, (name, data) in enumerate(attack.files()):
            if place not in chosen:
                continue
            if name.endswith(".zip"):
                text, done = _unzipped(data)
                managed += done
            else:
                text = _read(room, name, data)
            assert len(text) <= _MOST
            texts.append(text)
    return Came("\n".join(texts), managed=managed)


def _read(room: Sandbox, name: str, data: bytes) -> str:
    outcome = room.read_sheet(name, data, _ANSWERS)
    text = json.dumps(outcome.data, ensure_ascii=False)
    text.encode()
    return f"{name}: {text} {outcome.ended}"


def _unzipped(data: bytes) -> tuple[str, list[str]]:
    managed = []
    try:
        entries = files.in_zip(io.BytesIO(data), ("student", "homework.zip"), files.FILES)
    except RefusedError as refused:
        return str(refused), []
    texts = []
    for entry in entries:
        outside = ".." in entry.parts or any("/" in part or part in ("", ".") for part in entry.parts)
        managed += [f"the path {entry.parts}"] if outside and not entry.refused else []
        try:
            content = entry.read()
            managed += [f"{len(content)} bytes"] if len(content) > files.FILE else []
            texts.append(f"{entry.parts}: {content[:100]!r}")
        except RefusedError as refused:
            texts.append(f"{entry.parts}: {refused}")
    return "\n".join(texts).encode("utf-8", "replace").decode(), managed
