"""Importing `fxbook` with an untested torch prints one line, once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fxbook.catalogue import About
from fxbook.checking.judge import Verdict, Violation
from fxbook.checking.report import Report
from press import ROOT


def output_with(folder: Path, version: str | None) -> str:
    """What importing the library prints with this version of torch, or with the installed one if ``None``."""
    if version is not None:
        info = folder / f"torch-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n", "utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
    command = [sys.executable, "-c", "import fxbook"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stderr


@pytest.mark.parametrize("version", ["2.5.1", "1.13.0", "2.16.0+cpu", "2.130.0", "nightly"])
def test_untested_torch_gives_one_line(tmp_path: Path, version: str) -> None:
    [line] = output_with(tmp_path, version).splitlines()
    assert line.startswith(f"fxbook was tested with torch 2.6 to 2.15, but this is torch {version}")


@pytest.mark.parametrize("version", [None, "2.6.0", "2.9.1", "2.13.1+cu128", "2.15.0"])
def test_tested_torch_gives_no_line(tmp_path: Path, version: str | None) -> None:
    assert output_with(tmp_path, version) == ""


@pytest.mark.parametrize(
    ("needed", "is_newer"), [("2.130", True), ("3.0", True), ("2.13", False), ("2.6", False), ("", False)]
)
def test_a_report_says_that_the_solution_needs_a_newer_torch(needed: str, is_newer: bool) -> None:
    about = About("03-clean-up", "Clean up", torch=needed)
    failed = repr(Report(about, Verdict(Violation("A node is lost.", rule="nodes"))))
    assert ("needs torch 2.130 or newer, but this is torch 2." in failed.replace("3.0 ", "2.130 ")) == is_newer
    assert "newer" not in repr(Report(about, Verdict(None)))
