"""Judge every answer to every exercise with another torch: its interpreter runs the tests of the answers."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path

from press import ROOT
from press.versions.cells import Difference
from press.versions.outputs import first_difference
from press.versions.record import JUDGED, MISJUDGED, PASSING, REFUSED

TESTS = ("tests/checking/test_answers.py", "tests/checking/test_exercises.py")
_RIGHT, _WRONG, _IT_PASSED = "test_right_answer_passes", "test_wrong_answer_gets_its_report", "assert not True"
# The first line of a check's report: the exercise, its title, and whether it passed.
_REPORT = re.compile(r"([\w-]+) \(.*\): (solved|not yet)\.")


def judge(python: Path) -> tuple[int, dict[str, str]]:
    """Run the tests of the answers; return how many were judged, and which tests failed, like :func:`read`."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [str(python), "-m", "pytest", "-n", "2", "--quiet", "--no-summary", f"--junitxml={report}", *TESTS]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, env=environment)
        return read(report.read_text(encoding="utf-8"))


def read(report: str) -> tuple[int, dict[str, str]]:
    """How many answers pytest has judged, and how each failed test failed: one of ``JUDGED``, with its message."""
    judged, wrong = 0, {}
    for case in ElementTree.fromstring(report).iter("testcase"):
        name = case.get("name", "")
        test = name.partition("[")[0]
        judged += test in (_RIGHT, _WRONG)
        if (failure := next((part for part in case if part.tag in ("failure", "error")), None)) is not None:
            says = " ".join(failure.get("message", "").split("\n")[0].split())
            passes = PASSING if says.startswith(_IT_PASSED) else MISJUDGED
            wrong[name] = f"{ {_RIGHT: REFUSED, _WRONG: passes}.get(test, 'exercise') }: {says}"[:300]
    return judged, wrong


def counted(wrong: Mapping[str, str]) -> dict[str, int]:
    return {kind: sum(says.startswith(f"{kind}: ") for says in wrong.values()) for kind in JUDGED}


def failing_solution(one: Difference) -> str:
    """The exercise whose solution passes in the book and fails here, or ``""`` if the cell differs in another way."""
    before, now = map(_REPORT.match, first_difference(one.printed, one.here))
    is_solution = one.notebook.startswith("solutions/") and before and now
    return now[1] if is_solution and (before[2], now[2]) == ("solved", "not yet") else ""
