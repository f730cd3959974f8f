"""`check` and `hint` show their result exactly once: in a script, at a prompt and in a notebook."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbclient
import pytest
from nbformat import v4

from press import ROOT
from press.printing.kernels import own_socket

CALLS = {
    "check": ('from fxbook import check\ncheck("00-readers", lambda graph: 3)', "00-readers (", "not yet."),
    "check of an unknown id": ('from fxbook import check\ncheck("00-reader", 3)', "There is no exercise", "00-reader"),
    "hint": ('from fxbook import hint\nhint("00-readers")', "Hint 1 of 2", ""),
}


def run(*command: str, stdin: str = "") -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSTARTUP": ""}
    done = subprocess.run([sys.executable, *command], input=stdin, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", CALLS)
def test_a_script_prints_it_once(name: str, tmp_path: Path) -> None:
    code, text, more = CALLS[name]
    script = tmp_path / "answer.py"
    script.write_text(code, encoding="utf-8")
    printed = run(str(script))
    assert printed.count(text) == 1 and more in printed


def test_a_prompt_shows_it_once() -> None:
    code, text, _ = CALLS["hint"]
    assert run("-i", "-q", stdin=code + "\n").count(text) == 1
    assert run("-m", "IPython", "--simple-prompt", "--no-banner", stdin=code + "\n").count(text) == 1


def test_a_notebook_shows_it_once() -> None:
    cells = [v4.new_code_cell(code) for code, *_ in CALLS.values()]
    nbclient.NotebookClient(v4.new_notebook(cells=cells), kernel_name="python3", config=own_socket()).execute(
        cwd=str(ROOT)
    )
    for cell in cells:
        assert [output.output_type for output in cell.outputs] == ["execute_result"]
