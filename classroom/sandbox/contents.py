"""What lies in each room of the sandbox: the files of the library that its work imports, and none other."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

import classroom
import fxbook
from classroom.sandbox import calls, halves

_LIBRARY, _GRADER = Path(fxbook.__file__).parent, Path(classroom.__file__).parent
_INSIDE = Path(__file__).parent / "inside"
OBSERVING, JUDGING, READING = ROOMS = ("observing", "judging", "reading")
# Beside the room itself and the library: of the grader what the room imports. Students' code sees none of it.
_OF_THE_GRADER: Mapping[str, tuple[str, ...]] = {
    OBSERVING: (),
    JUDGING: (
        "judge/__init__.py",
        "judge/allowed.py",
        "judge/claims.py",
        "judge/judging.py",
        "judge/rebuild/__init__.py",
        "judge/rebuild/graph.py",
        "judge/rebuild/modules.py",
        "judge/rebuild/values.py",
    ),
    READING: ("collect/__init__.py", "collect/parsing.py", "collect/plain.py", "collect/unzipping.py"),
}
_OF_EVERY_ROOM = ("__init__.py", "confine.py", "hidden.py", "pages.py", "rooms.py", "warm.py")


@functools.cache
def files(room: str) -> Mapping[str, str | bytes]:
    """What lies in a room, by path.

    Raises:
        classroom.sandbox.calls.NoFilterError: there is no filter of system calls on this machine.
    """
    room_files: dict[str, str | bytes] = dict(halves.files() if room == OBSERVING else _whole_library())
    for name in (*_OF_EVERY_ROOM, f"{room}.py"):
        room_files[f"inside/{name}"] = (_INSIDE / name).read_text(encoding="utf-8")
    if _OF_THE_GRADER[room]:
        room_files["classroom/__init__.py"] = ""
    for name in _OF_THE_GRADER[room]:
        room_files[f"classroom/{name}"] = (_GRADER / name).read_text(encoding="utf-8")
    return {**room_files, "inside/calls.bpf": calls.program()}


def _whole_library() -> dict[str, str]:
    paths = (*_LIBRARY.rglob("*.py"), *_LIBRARY.glob("*.json"), *_LIBRARY.glob("static/*"))
    return {str(Path("fxbook") / path.relative_to(_LIBRARY)): path.read_text(encoding="utf-8") for path in paths}
