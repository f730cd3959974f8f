"""Whoever waits at a terminal for models to load is told so; nobody else is, and no thread is left."""

from __future__ import annotations

import io
import sys
import threading
import time

import pytest

from fxbook.asking import Case, Exercise
from fxbook.checking import waiting
from fxbook.checking.prepare import prepare
from tests.checking.exercise_for_tests import Stack


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def slow(seconds: float) -> Exercise:
    """An exercise whose model takes so long to make."""

    def build() -> Stack:
        time.sleep(seconds)
        return Stack(2, 2)

    return Exercise("99-slow", "compute", (Case("a slow model", build, lambda: ()),), ())


@pytest.mark.parametrize(
    ("stream", "seconds", "told"),
    [(Terminal, 0.4, f"{waiting.TOLD}\n"), (Terminal, 0.0, ""), (io.StringIO, 0.4, "")],
)
def test_a_terminal_is_told_of_a_long_wait_alone(
    stream: type[io.StringIO], seconds: float, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = threading.active_count()
    monkeypatch.setattr(waiting.told.__wrapped__, "__defaults__", (0.2,))  # type: ignore[attr-defined]
    monkeypatch.setattr(sys, "stderr", stream())
    prepare(slow(seconds), 1)
    assert sys.stderr.getvalue() == told  # type: ignore[attr-defined]
    assert threading.active_count() == threads


def test_the_thread_ends_with_a_model_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = threading.active_count()
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(ZeroDivisionError):
        prepare(Exercise("99-x", "compute", (Case("none", lambda: 1 / 0, lambda: ()),), ()), 1)  # type: ignore[arg-type, return-value]
    assert threading.active_count() == threads
