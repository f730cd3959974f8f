"""``make test`` and the rooms of ``make prove`` run each test once, and an unknown room is rejected."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from press import ROOT, rooms
from press import __main__ as commands
from press.printing.execution import NOTEBOOK_SEED
from tests import conftest

# A room's folder, a file with a marked and an unmarked test, and a notebook, which is in no room.
SOME = ("extras/editions/tests/test_folds.py", "tests/book/test_cheat_sheet.py", "solutions/P1_one_model.ipynb")


def collected(*arguments: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *arguments]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return [line for line in ran.stdout.splitlines() if "::" in line]


@pytest.mark.room(name="cold")
def test_each_test_is_in_test_or_in_one_room() -> None:
    everything = collected(*SOME)
    of_test = collected(*rooms.arguments_of_test(), *SOME)
    of_rooms = [test for name in ("editions", "site") for test in collected(*rooms.arguments_of_room(name), *SOME)]
    assert of_test and of_rooms and sorted([*of_test, *of_rooms]) == sorted(everything)
    assert {test.partition("::")[0] for test in of_test} == {SOME[1], SOME[2]}


def test_unknown_room_is_rejected() -> None:
    with pytest.raises(KeyError):
        rooms.arguments_of_room("attic")
    mark = pytest.mark.room(name="attic").mark
    item: Any = SimpleNamespace(path=ROOT / "tests/test_it.py", nodeid="test_it", get_closest_marker=lambda _: mark)
    with pytest.raises(pytest.UsageError, match="names no room"):
        conftest.pytest_collection_modifyitems([item])


@pytest.mark.parametrize("options", [["--room", "site"], []])
def test_prove_says_what_each_room_adds_and_runs_it(
    options: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[list[str]] = []

    def run(command: list[str], *, env: dict[str, str], **_: object) -> subprocess.CompletedProcess:
        assert env["OMP_NUM_THREADS"] == "1"
        ran.append(command)
        return subprocess.CompletedProcess(command, int("room(name='site')" in command))

    monkeypatch.setattr(commands.environment, "run_module", lambda *_: None)
    monkeypatch.setattr(commands.subprocess, "run", run)
    monkeypatch.setattr(os, "environ", {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"})
    assert commands.main(["prove", *options, "-x"]) == 1
    names = ["site"] if options else list(rooms.ROOMS)
    assert [command[command.index("-m", 3) + 1] for command in ran] == [f"room(name='{name}')" for name in names]
    assert all(command[-1] == "-x" for command in ran)
    output = capsys.readouterr().out
    assert all(str(rooms.ROOMS[name]) in output for name in names) and "Room site: failed." in output


def test_checks_in_tests_use_the_seed_of_the_generated_reports() -> None:
    code = "import os; from press.printing import nbval_plugin; from types import SimpleNamespace as Config\n"
    code += "config = Config(stash={}, option=Config(), getoption=lambda *_: 'python3')\n"
    code += "nbval_plugin.pytest_configure(config); from fxbook.checking import new_seed; print(new_seed(), new_seed())"
    environment = {name: value for name, value in os.environ.items() if name != "FXBOOK_SEED"}
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.stdout.split() == [str(NOTEBOOK_SEED)] * 2, ran.stderr
