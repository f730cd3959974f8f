"""Run, judge and read what students made where it can do no harm: no network, no files but its own, no other process.

There are three rooms: students' code runs in one, what it said is judged in the next, files are read in the third. In
each a process gets ready once, inside bubblewrap (``bubble``), with only the files that it needs (``contents``; the
code of students gets the part of the library that observes, ``observer_package``). It forks for each piece of work,
and each fork confines itself further before it reads what a student made (``inside``), which leaves it few system
calls (``calls``). What comes out is JSON, which the grader parses and looks through (``outside``); nothing else of a
student's ever enters it.
"""

import functools
import importlib
from typing import TYPE_CHECKING

from classroom.sandbox.bubble import Protection, SandboxError, protection

if TYPE_CHECKING:
    from classroom.sandbox.outside import Sandbox

__all__ = ["Limits", "Protection", "Sandbox", "SandboxError", "for_reading", "protection"]


@functools.cache
def for_reading() -> "Sandbox":
    """The sandbox in which this process reads files; on a machine without one, children with limits."""
    from classroom.sandbox.outside import Sandbox

    return Sandbox(trusted=bool(protection().refusal))


def __getattr__(name: str) -> object:
    """Import on first use: to know what a machine protects needs no torch."""
    if name in ("Limits", "Sandbox"):
        return getattr(importlib.import_module("classroom.sandbox.outside"), name)
    raise AttributeError(f"module 'classroom.sandbox' has no attribute {name!r}")
