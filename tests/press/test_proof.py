"""Whoever runs many tests sees how far they are, a line for each part, what failed at once, and what was skipped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from press import ROOT, proof

GOOD = "def test_good():\n    pass\n"
MIXED = f"""
import pytest

{GOOD}

def test_bad():
    assert False

@pytest.fixture
def broken():
    raise OSError

def test_ugly(broken):
    pass

@pytest.mark.parametrize("case", [1, 2])
def test_elsewhere(case):
    pytest.skip("there is no sandbox here: apt install bubblewrap")
"""


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_line_for_each_part_and_what_was_skipped(tmp_path: Path, processes: str) -> None:
    for name, text in {
        "tests/room/test_a.py": GOOD,
        "tests/room/test_b.py": GOOD,
        "tests/loft/test_c.py": MIXED,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    options = [
        "-p",
        "press.proof",
        "-p",
        "no:cacheprovider",
        "-n",
        processes,
        "--rootdir",
        str(tmp_path),
        "-c",
        "/dev/null",
    ]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
    )
    lines = [" ".join(line.split()) for line in ran.stdout.splitlines()]
    assert any(line.startswith("room 2 passed") and line.endswith(" s") for line in lines), ran.stdout
    assert any(line.startswith("loft 1 passed") and line.endswith("s, 2 skipped, 2 failed") for line in lines)
    assert {"FAILED tests/loft/test_c.py::test_bad", "FAILED tests/loft/test_c.py::test_ugly"} <= set(lines)
    assert "2 there is no sandbox here: apt install bubblewrap" in lines
    assert "1 failed, 3 passed, 2 skipped, 1 error" in ran.stdout


def test_what_is_said_to_be_proven_is_tested_somewhere() -> None:
    files = (beginning.partition("::")[0] for beginning in proof.PROVES)
    assert [name for name in files if not (ROOT / name).exists()] == []
