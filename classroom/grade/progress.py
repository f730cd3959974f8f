"""Print the progress of grading, a line every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TextIO

from classroom.grade.records import Mark

_SECONDS = 5.0


class Progress:
    """Count students and print how many are graded, and about how long the others will take."""

    def __init__(self, total: int, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._stream, self._clock = total, stream, clock
        self._started = self._first = self._shown = clock()
        self._done = self._answers = self._passed = self._failed = 0

    def begin(self) -> None:
        if self._total:
            whom = "a student" if self._total == 1 else f"{self._total} students"
            print(f"Grading {whom}: the workers load torch, which takes a few seconds …", file=self._stream, flush=True)

    def add(self, marks: Sequence[Mark]) -> None:
        now = self._clock()
        if not self._done:
            # The start of the workers, which happens only once, says nothing about the other students.
            self._first = now
        self._done += 1
        self._answers += len(marks)
        self._passed += sum(mark.status == "passed" for mark in marks)
        self._failed += any(mark.status == "error" for mark in marks)
        if now - self._shown >= _SECONDS or self._done == self._total:
            self._shown = now
            print(self._line(now), file=self._stream, flush=True)

    def _line(self, now: float) -> str:
        parts = [f"{self._done}/{self._total} students", f"{self._passed}/{self._answers} answers passed"]
        if self._failed:
            parts.append(f"{self._failed} not graded, because the grader failed")
        if self._done == self._total:
            parts.append(f"took {_span(now - self._started)}")
        elif self._done > 1:
            left = (now - self._first) / (self._done - 1) * (self._total - self._done)
            parts.append(f"about {_span(left)} left")
        return " · ".join(parts)


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
