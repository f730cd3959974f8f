"""Choose by name the files of the library and the grader for each room of the sandbox.

No room contains a known answer to an exercise, and the reading room contains nothing that judges.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

import classroom
import fxbook
from classroom.sandbox import calls, observer_package
from classroom.sandbox.observer_package import texts
from fxbook.grading import SHEETS

_LIBRARY, _GRADER = Path(fxbook.__file__).parent, Path(classroom.__file__).parent
_INSIDE = Path(__file__).parent / "inside"
OBSERVING, JUDGING, READING = ROOMS = ("observing", "judging", "reading")
_OF_THE_LIBRARY: Mapping[str, tuple[str, ...]] = {
    JUDGING: (*observer_package.OBSERVING, "rules/*.py", "checking/*.py", f"tasks/{SHEETS}/**/check.py"),
    READING: (
        *("__init__.py", "grading.py", "torch_here.py", "observing/__init__.py", "observing/forked.py"),
        "learning/*.py",
    ),
}
# Hidden from students' code.
_OF_THE_GRADER: Mapping[str, tuple[str, ...]] = {
    OBSERVING: (),
    JUDGING: ("__init__.py", "judge/**/*.py"),
    READING: ("__init__.py", *(f"collect/{name}.py" for name in ("__init__", "normalise", "parsing", "unzipping"))),
}
_INSIDE_EVERY_ROOM = ("__init__.py", "confine.py", "pages.py", "rooms.py", "warm.py")
_INSIDE_ONE: Mapping[str, tuple[str, ...]] = {
    OBSERVING: ("hidden.py", "observing.py"),
    JUDGING: ("hidden.py", "judging.py"),
    READING: ("reading.py",),
}


@functools.cache
def files(room: str) -> Mapping[str, str | bytes]:
    """The content of a room by path.

    Raises:
        classroom.sandbox.calls.NoFilterError: this machine has no system-call filter.
    """
    return {
        **(observer_package.files() if room == OBSERVING else texts(_LIBRARY, _OF_THE_LIBRARY[room])),
        **texts(_GRADER, _OF_THE_GRADER[room]),
        **texts(_INSIDE, (*_INSIDE_EVERY_ROOM, *_INSIDE_ONE[room])),
        "inside/calls.bpf": calls.program(),
    }
