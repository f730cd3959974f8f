"""``mypy --strict`` accepts a sample that uses every public name of the tools."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import fxbook
from press import ROOT

SAMPLE = Path(__file__).with_name("typed_sample.py")


def imports(path: Path) -> list[ast.ImportFrom]:
    """The imports from ``fxbook`` in a file."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in nodes if isinstance(node, ast.ImportFrom) and str(node.module).startswith("fxbook")]


def test_type_checkers_see_the_names_that_python_finds() -> None:
    typed = {one.name: node.module for node in imports(Path(fxbook.__file__)) for one in node.names if one.asname}
    assert sorted(typed) == fxbook.__all__
    for name, module in typed.items():
        assert getattr(importlib.import_module(str(module)), name) is getattr(fxbook, name)
    assert sorted(one.name for node in imports(SAMPLE) for one in node.names) == fxbook.__all__


@pytest.mark.room(name="passes")
def test_mypy_accepts_the_sample() -> None:
    pytest.importorskip("mypy")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--follow-imports=silent",
        "--cache-dir=/dev/null",
        str(SAMPLE),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
