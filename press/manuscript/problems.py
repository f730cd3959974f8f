"""The press's errors, for people: what is wrong, where, and what to do."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from press import ROOT


@dataclasses.dataclass(frozen=True, order=True)
class Problem:
    """A fault at a line of a file; the message says how to fix it."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        path = self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path
        return f"{path.as_posix()}:{self.line}: {self.message}"


@dataclasses.dataclass(frozen=True)
class Place:
    path: Path
    line: int

    def problem(self, message: str) -> Problem:
        return Problem(self.path, self.line, message)


class PressError(Exception):
    """Something to fix first; carries one or more :class:`Problem`."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("\n".join(map(str, sorted(problems))))
        self.problems = problems
