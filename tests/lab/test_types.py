"""The scripts' JSDoc types pass TypeScript, which npx fetches in a pinned version."""

from __future__ import annotations

import shutil
import subprocess

import pytest

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
