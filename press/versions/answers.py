"""Judge every answer to every exercise on another torch: the tests of the answers, run by its interpreter."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path

from press import ROOT

TESTS = ("tests/checking/test_answers.py", "tests/checking/test_exercises.py")
_PARAMETER = re.compile(r"\[(.*)\]$")


def judge(python: Path) -> tuple[int, dict[str, str]]:
    """Run the tests of the answers; return how many were judged, and what is wrong, by the name of the test."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [str(python), "-m", "pytest", "-n", "2", "--quiet", "--no-summary", f"--junitxml={report}", *TESTS]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, env=environment)
        return read(report.read_text(encoding="utf-8"))


def read(report: str) -> tuple[int, dict[str, str]]:
    """What pytest has written of the tests: how many there were, and the first line of each failure."""
    cases = list(ElementTree.fromstring(report).iter("testcase"))
    wrong = {}
    for case in cases:
        failure = next((part for part in case if part.tag in ("failure", "error")), None)
        if failure is not None:
            name = case.get("name", "")
            parameter = _PARAMETER.search(name)
            told = [line.strip() for line in failure.get("message", "").splitlines() if line.strip()]
            wrong[parameter[1] if parameter else name] = " ".join(told[:2])[:300]
    return len(cases), wrong


def merged(
    before: Mapping[str, Mapping[str, str]], version: str, wrong: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """What was recorded, with what was found on a version in place of what was found there before."""
    kept = {name: {one: says for one, says in rows.items() if one != version} for name, rows in before.items()}
    for name, says in wrong.items():
        kept.setdefault(name, {})[version] = says
    return {name: rows for name, rows in kept.items() if rows}
