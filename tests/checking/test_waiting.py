"""A terminal shows a message while models load; other outputs do not, and no thread remains."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable

import pytest

from fxbook.cases import Case, Exercise
from fxbook.observing import waiting
from fxbook.observing.prepare import prepare
from tests.checking.exercise_for_tests import Stack, an_exercise


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


HOURS = 10_000.0


def made_by(build: Callable[[], Stack]) -> Exercise:
    """An exercise with one model, made by ``build``."""
    return an_exercise("99-slow", "compute", (Case("a model", build, lambda: ()),), ())


def stack() -> Stack:
    return Stack(2, 2)


def at(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Replace stderr. Not a fixture, because pytest replaces stderr for the test itself."""
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


@pytest.fixture
def tell_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set the number of seconds after which a wait counts as long."""
    return lambda seconds: monkeypatch.setattr(waiting.told.__wrapped__, "__defaults__", (seconds,))  # type: ignore[attr-defined]


def test_terminal_announces_a_long_wait(tell_after: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
    threads, terminal = threading.active_count(), at(Terminal(), monkeypatch)

    def build() -> Stack:
        while not terminal.getvalue():
            time.sleep(0.01)
        return stack()

    tell_after(0.01)
    prepare(made_by(build), 1)
    assert terminal.getvalue() == f"{waiting.TOLD}\n"
    assert threading.active_count() == threads


def test_terminal_is_silent_for_a_short_wait(
    tell_after: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, terminal = threading.active_count(), at(Terminal(), monkeypatch)
    tell_after(HOURS)
    prepare(made_by(stack), 1)
    assert terminal.getvalue() == ""
    assert threading.active_count() == threads


def test_only_terminals_announce_a_wait(tell_after: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
    threads, file, counted = threading.active_count(), at(io.StringIO(), monkeypatch), []

    def build() -> Stack:
        counted.append(threading.active_count())
        return stack()

    tell_after(0.0)
    prepare(made_by(build), 1)
    assert file.getvalue() == ""
    assert set(counted) == {threads}


def test_thread_ends_if_the_model_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = threading.active_count()
    at(Terminal(), monkeypatch)
    with pytest.raises(ZeroDivisionError):
        prepare(made_by(lambda: 1 / 0), 1)  # type: ignore[arg-type, return-value]
    assert threading.active_count() == threads
