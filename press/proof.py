"""A pytest plugin for long runs: progress, a line for each part, and a summary of what was proven.

``python -m press test`` loads it; plain ``pytest`` shows its own dots. A part is a folder of tests or of notebooks. The
time shown for a part is the sum over its tests, which run in several processes at once.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Iterable
from pathlib import PurePosixPath

import pytest
from _pytest.terminal import TerminalReporter

from press.progress import Progress

# What each passed test proves, by the beginning of its id. Several tests look at each page, which counts once.
PROVES = {
    "chapters/": "cells executed again and compared",
    "solutions/": "cells executed again and compared",
    "tests/checking/test_answers.py": "right and wrong answers judged, each with its report",
    "tests/mutation/test_mutants.py": "exercises that reject most of the slightly wrong versions of their solution",
    "tests/checking/test_clauses.py::test_every_sentence": "tasks whose every sentence is checked or requires nothing",
    "tests/checking/test_exercises.py::test_exercise_fails": "exercises that fail as they are handed out",
    "classroom/tests/sandbox/test_observing_attacks.py": "attacks that failed",
    "classroom/tests/sandbox/test_judging_attacks.py": "attacks that failed",
    "classroom/tests/sandbox/test_reading_attacks.py": "attacks that failed",
    "classroom/tests/sandbox/test_rooms_taken_over.py": "attacks that failed",
    "classroom/tests/sandbox/test_cheats.py": "failed attempts to look up an answer",
    "classroom/tests/judge/test_rebuild_lies.py": "lies about a graph that were seen through",
    "classroom/tests/handout/test_leaks.py": "planted secrets that were found before a student could",
    "tests/site/": "pages of the book inspected",
}
_INSPECTED_OFTEN = "pages of the book inspected"
_PARAMETER = re.compile(r"\[(.*)\]$")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.getplugin("terminalreporter")
    if reporter and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Parts(reporter), "press-parts")
        config.pluginmanager.register(Progress(reporter, getattr(config, "cache", None)), "press-progress")


def part_of(nodeid: str) -> str:
    """The part that a test belongs to: ``"classroom/sandbox"``, ``"chapters"``."""
    folder = PurePosixPath(nodeid.partition("::")[0]).parent
    return folder.relative_to("tests").as_posix() if folder.parts[:1] == ("tests",) else folder.as_posix()


class Parts:
    """Counts the tests of each part and prints a line after its last one."""

    def __init__(self, reporter: TerminalReporter) -> None:
        self._reporter = reporter
        reporter.showfspath = False
        self._left: collections.Counter[str] = collections.Counter()
        self._outcomes: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        self._seconds: collections.Counter[str] = collections.Counter()
        self._proven: dict[str, set[str]] = collections.defaultdict(set)
        self._skipped: collections.Counter[str] = collections.Counter()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._expect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Every process has collected the same tests."""
        self._expect(ids)

    def _expect(self, ids: Iterable[str]) -> None:
        self._left = self._left or collections.Counter(map(part_of, ids))

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str]:
        """Report without dots, but with the usual counts."""
        if report.failed:
            return ("failed" if report.when == "call" else "error", "", "")
        return (report.outcome if report.when == "call" or report.skipped else "", "", "")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        part = part_of(report.nodeid)
        self._seconds[part] += report.duration
        if report.failed:
            self._outcomes[part]["failed"] += 1
            self._reporter.write_line(f"FAILED {report.nodeid}")
        elif report.skipped:
            self._outcomes[part]["skipped"] += 1
            self._skipped[_reason(report)] += 1
        elif report.when == "call":
            self._outcomes[part]["passed"] += 1
            self._count(report.nodeid)
        if report.when == "teardown":
            self._left[part] -= 1
            if self._left[part] == 0:
                self._tell(part)

    def _count(self, nodeid: str) -> None:
        for beginning, what in PROVES.items():
            if nodeid.startswith(beginning):
                parameter = _PARAMETER.search(nodeid)
                one_of_many = what == _INSPECTED_OFTEN and parameter
                self._proven[what].add(parameter[1] if one_of_many else nodeid)

    def _tell(self, part: str) -> None:
        counts = self._outcomes[part]
        others = "".join(f", {counts[name]} {name}" for name in ("skipped", "failed") if counts[name])
        self._reporter.write_line(f"{part:<24}{counts['passed']:>6} passed {self._seconds[part]:>7.1f} s{others}")

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        tell = terminalreporter.write_line
        if self._proven:
            terminalreporter.section("what was proven")
        for what in dict.fromkeys(PROVES.values()):
            if self._proven[what]:
                tell(f"{len(self._proven[what]):>6,} {what}")
        if self._skipped:
            terminalreporter.section("what was skipped, and how to run it")
        for reason, count in self._skipped.most_common():
            tell(f"{count:>6} {reason}")


def _reason(report: pytest.TestReport) -> str:
    kept = report.longrepr
    return str(kept[2] if isinstance(kept, tuple) else kept).removeprefix("Skipped: ")
