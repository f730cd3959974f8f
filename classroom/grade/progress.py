"""Show the progress of grading: one updated line in a terminal, an occasional line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TextIO

from classroom.grade.records import Mark

_TERMINAL_SECONDS, _FILE_SECONDS = 0.2, 15.0
# Do not estimate the remaining time before this many students, this share of them and this many seconds: a rare answer
# that hangs takes a hundred times as long as others.
_ENOUGH, _ENOUGH_PART, _ENOUGH_SECONDS = 30, 0.2, 5.0


class Progress:
    """Count students and print the progress."""

    def __init__(self, total: int, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._stream, self._clock = total, stream, clock
        self._terminal = stream.isatty()
        self._started = clock()
        # Excludes the start of the workers, which happens only once.
        self._first = 0.0
        self._shown = self._started
        self._width = 0
        self._done = self._answers = self._passed = self._failed = 0

    def add(self, marks: Sequence[Mark]) -> None:
        if not self._done:
            self._first = self._clock()
        self._done += 1
        self._answers += len(marks)
        self._passed += sum(mark.status == "passed" for mark in marks)
        self._failed += any(mark.status == "error" for mark in marks)
        wait = _TERMINAL_SECONDS if self._terminal else _FILE_SECONDS
        if self._clock() - self._shown >= wait or self._done == self._total:
            self._show()

    def line(self) -> str:
        parts = [f"{self._done}/{self._total} students", f"{self._passed}/{self._answers} answers passed"]
        if self._failed:
            parts.append(f"{self._failed} not graded, because the grader failed")
        elapsed = self._clock() - self._started
        if self._done == self._total:
            parts.append(f"took {_span(elapsed)}")
        elif (seconds := self._seconds_left()) is not None:
            parts.append(f"about {_span(seconds)} left")
        return " · ".join(parts)

    def _seconds_left(self) -> float | None:
        """The estimated time left, or ``None`` while it is too early to say."""
        since = self._clock() - self._first
        if since < _ENOUGH_SECONDS or self._done < min(_ENOUGH, max(2, _ENOUGH_PART * self._total)):
            return None
        return since / (self._done - 1) * (self._total - self._done)

    def begin(self) -> None:
        if self._total:
            whom = "a student" if self._total == 1 else f"{self._total} students"
            print(f"Grading {whom}: the workers load torch, which takes a few seconds …", file=self._stream, flush=True)

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
        """End the updated line."""
        if self._width:
            print(file=self._stream, flush=True)
            self._width = 0


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
