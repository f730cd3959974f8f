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
# What is otherwise: a right answer does not pass, a wrong one passes or fails for another reason, or an exercise as it
# is handed out gets another report.
REFUSED, PASSES, TOLD, EXERCISE = "right and refused", "wrong and passes", "wrong and told otherwise", "exercise"
_RIGHT, _WRONG, _IT_PASSED = "test_right_answer_passes", "test_wrong_answer_is_told_its_mistake", "assert not True"
_PARAMETER = re.compile(r"\[(.*)\]$")


def judge(python: Path) -> tuple[int, dict[str, str]]:
    """Run the tests of the answers; return how many answers were judged, and what is otherwise: see :func:`read`."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [str(python), "-m", "pytest", "-n", "2", "--quiet", "--no-summary", f"--junitxml={report}", *TESTS]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, env=environment)
        return read(report.read_text(encoding="utf-8"))


def read(report: str) -> tuple[int, dict[str, str]]:
    """What pytest has written of the tests.

    Returns:
        How many right and wrong answers there were; and of each answer or exercise of which the check says something
        else what it is, one of ``REFUSED``, ``PASSES``, ``TOLD``, ``EXERCISE``, and what was said.
    """
    cases = list(ElementTree.fromstring(report).iter("testcase"))
    tests = [case.get("name", "").partition("[")[0] for case in cases]
    wrong = {}
    for case, test in zip(cases, tests, strict=True):
        failure = next((part for part in case if part.tag in ("failure", "error")), None)
        if failure is not None:
            name = case.get("name", "")
            parameter = _PARAMETER.search(name)
            told = [line.strip() for line in failure.get("message", "").splitlines() if line.strip()]
            says = " ".join(told[:2])
            passes = test == _WRONG and says.startswith(_IT_PASSED)
            what = PASSES if passes else {_RIGHT: REFUSED, _WRONG: TOLD}.get(test, EXERCISE)
            wrong[parameter[1] if parameter else name] = f"{what}: {says}"[:300]
    return sum(test in (_RIGHT, _WRONG) for test in tests), wrong


def merged(
    before: Mapping[str, Mapping[str, str]], version: str, wrong: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """What was recorded, with what was found on a version in place of what was found there before."""
    kept = {name: {one: says for one, says in rows.items() if one != version} for name, rows in before.items()}
    for name, says in wrong.items():
        kept.setdefault(name, {})[version] = says
    return {name: rows for name, rows in kept.items() if rows}
