"""A press command takes its own options and passes on the rest to the program that it starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from press import ROOT
from press import __main__ as commands


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The programs that a command would start; none of them runs."""
    calls: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess:
        calls.append(command[1:])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(commands.environment, "run_module", lambda *_: None)
    monkeypatch.setattr(commands.subprocess, "run", run)
    return calls


@pytest.mark.parametrize("given", [["--once"], ["05-loop", "--once"], ["--folder", "here", "05"], ["-h"], []])
def test_watch_passes_on_its_arguments(started: list[list[str]], given: list[str]) -> None:
    assert commands.main(["watch", *given]) == 0
    assert started == [["-m", "fxbook", "watch", *given]]


@pytest.mark.parametrize("command", [["test"], ["prove", "--room", "site"]])
def test_options_of_pytest_reach_pytest_in_their_order(started: list[list[str]], command: list[str]) -> None:
    given = ["-k", "paper", "--maxfail=1", "-x"]
    assert commands.main([*command, *given]) == 0
    assert started[-1][:2] == ["-m", "pytest"] and started[-1][-len(given) :] == given


def test_unknown_option_is_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        commands.main(["serve", "--once"])
    assert left.value.code == 2 and "unrecognized arguments: --once" in capsys.readouterr().err


def test_watch_once_reports_and_leaves(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "press", "watch", "--once", "--folder", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    assert "There is no 00_first_graph.ipynb" in done.stdout
