"""Run, judge and read students' work in isolation: no network, only its own files, no other process.

There are three rooms: the first runs students' code, the second judges its observations, the third reads files. In
each, a process starts once inside bubblewrap (``bubble``) with only the files that it needs (``contents``); the room
for students' code gets only the part of the library that observes (``observer_package``). The process forks for each
task, and each fork confines itself further before it reads untrusted data (``inside``); it can make only a few system
calls (``calls``). The result is JSON, which the grader parses and checks (``outside``). Nothing else from a student
enters the grader.
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
    """The sandbox in which this process reads files; without a sandbox, limited child processes."""
    from classroom.sandbox.outside import Sandbox

    return Sandbox(trusted=bool(protection().refusal))


def __getattr__(name: str) -> object:
    """Import on first use, because :func:`protection` needs no torch."""
    if name in ("Limits", "Sandbox"):
        return getattr(importlib.import_module("classroom.sandbox.outside"), name)
    raise AttributeError(f"module 'classroom.sandbox' has no attribute {name!r}")
