"""The scripts stay small, and their JSDoc types pass TypeScript, which npx fetches in a pinned version."""

from __future__ import annotations

import gzip
import shutil
import subprocess

import pytest

from fxbook.lab.bundle import lab_style, script
from tests.lab.playing import PAGE

NPX = shutil.which("npx")
TYPESCRIPT = "5.9.3"


@pytest.mark.room(name="lab")
@pytest.mark.skipif(NPX is None, reason="needs npx")
def test_the_types_of_the_scripts_hold() -> None:
    command = [str(NPX), "--yes", "-p", f"typescript@{TYPESCRIPT}", "tsc", "-p", str(PAGE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode and "npm " in done.stderr:
        pytest.skip(f"npx cannot fetch TypeScript here: {done.stderr[:200]}")
    assert done.returncode == 0, done.stdout


def test_the_scripts_stay_small() -> None:
    assert all(len(file.read_text(encoding="utf-8").splitlines()) < 200 for file in PAGE.glob("*.js"))
    assert len(gzip.compress((script() + lab_style()).encode())) <= 35_000
