"""Tell how far grading is: one line that is written over in a terminal, a line now and then anywhere else."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TextIO

from classroom.records import Mark

_TERMINAL_SECONDS, _FILE_SECONDS = 0.2, 15.0


class Progress:
    """Counts students.

    Args:
        total: how many are to be graded.
        stream: where the line goes.
        clock: seconds that rise.
    """

    def __init__(self, total: int, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._stream, self._clock = total, stream, clock
        self._terminal = stream.isatty()
        self._started = clock()
        self._shown = self._started
        self._width = 0
        self._done = self._answers = self._passed = self._failed = 0

    def add(self, marks: Sequence[Mark]) -> None:
        """One student more is done."""
        self._done += 1
        self._answers += len(marks)
        self._passed += sum(mark.status == "passed" for mark in marks)
        self._failed += any(mark.status == "error" for mark in marks)
        wait = _TERMINAL_SECONDS if self._terminal else _FILE_SECONDS
        if self._clock() - self._shown >= wait or self._done == self._total:
            self._show()

    def line(self) -> str:
        """What is shown."""
        told = [f"{self._done}/{self._total} students", f"{self._passed}/{self._answers} answers passed"]
        if self._failed:
            told.append(f"{self._failed} not graded, since the grader failed")
        elapsed = self._clock() - self._started
        if self._done == self._total:
            told.append(f"took {_span(elapsed)}")
        elif self._done:
            told.append(f"{_span(elapsed / self._done * (self._total - self._done))} left")
        return " · ".join(told)

    def _show(self) -> None:
        self._shown = self._clock()
        line = self.line()
        if not self._terminal:
            print(line, file=self._stream, flush=True)
            return
        print("\r" + line.ljust(self._width), end="", file=self._stream, flush=True)
        self._width = len(line)
        if self._done == self._total:
            self.end()

    def end(self) -> None:
        """Leave the line that is written over."""
        if self._width:
            print(file=self._stream, flush=True)
            self._width = 0


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
