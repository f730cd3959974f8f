"""Print the progress of the tests every few seconds, in plain lines that suit a log; ``press.proof`` uses this."""

from __future__ import annotations

import collections
import threading
import time

import pytest
from _pytest.terminal import TerminalReporter

# Seconds between two lines.
_OFTEN = 4
# The key in pytest's cache for the mean seconds of a test in the last run, by file.
_REMEMBERED = "press/seconds"


class Progress:
    """A plugin that prints how far the tests are, how many failed, roughly how long is left, and what is running."""

    def __init__(self, reporter: TerminalReporter, cache: pytest.Cache | None) -> None:
        self._reporter, self._cache = reporter, cache
        self._expected = dict((cache and cache.get(_REMEMBERED, None)) or {})
        self._begun = self._first_test = time.monotonic()
        self._to_do: dict[str, float] = {}
        self._done: set[str] = set()
        self._failed = 0
        self._running: dict[str, float] = {}
        self._taken: dict[str, list[float]] = collections.defaultdict(list)
        self._over = threading.Event()

    def pytest_sessionstart(self) -> None:
        threading.Thread(target=self._print_lines, daemon=True).start()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._expect([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Every process has collected the same tests."""
        self._expect(ids)

    def _expect(self, ids: list[str]) -> None:
        if ids and not self._to_do:
            known = list(self._expected.values())
            usual = sum(known) / len(known) if known else 1.0
            self._first_test = time.monotonic()
            self._to_do = {nodeid: self._expected.get(_file_of(nodeid), usual) for nodeid in ids}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running[nodeid] = time.monotonic()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed += report.failed
        if report.when == "teardown":
            self._done.add(report.nodeid)
            begun = self._running.pop(report.nodeid, None)
            if begun is not None:
                self._taken[_file_of(report.nodeid)].append(time.monotonic() - begun)

    def pytest_sessionfinish(self) -> None:
        self._over.set()
        if self._cache:
            means = {file: sum(seconds) / len(seconds) for file, seconds in self._taken.items()}
            self._cache.set(_REMEMBERED, self._expected | means)

    def _print_lines(self) -> None:
        while not self._over.wait(_OFTEN):
            self._reporter.write_line(self.line())
            self._reporter.flush()

    def line(self) -> str:
        if not self._to_do:
            return f"  collecting the tests, {time.monotonic() - self._begun:.0f} s"
        # A copy of the set, since another thread adds to it.
        share = sum(self._to_do.get(nodeid, 0.0) for nodeid in set(self._done)) / sum(self._to_do.values())
        counts = f"{len(self._done):,} of {len(self._to_do):,}, {self._failed} failed"
        return f"{100 * share:4.0f} %  {counts}, {self._left(share)}: {self._what_runs()}"

    def _left(self, share: float) -> str:
        elapsed = time.monotonic() - self._first_test
        if share < 0.01:
            return f"{elapsed:.0f} s so far"
        left = elapsed / share - elapsed
        return f"about {left / 60:.0f} min left" if left > 90 else f"about {left:.0f} s left"

    def _what_runs(self) -> str:
        now = time.monotonic()
        running = sorted(self._running.copy().items(), key=lambda each: each[1])
        return ", ".join(_named(nodeid, now - begun) for nodeid, begun in running) or "between two tests"


def _named(nodeid: str, seconds: float) -> str:
    """The name of a running test: its file, or its full name if it has been running for long."""
    return f"{nodeid} ({seconds:.0f} s)" if seconds > 2 * _OFTEN else _file_of(nodeid)


def _file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]
