"""``make test`` and the rooms of ``make prove`` take each test once, and a room that there is not is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from press import ROOT, rooms
from press import __main__ as commands

# A folder of a room, a file with a test that is marked and one that is not, and notebooks, which no room has.
SOME = ("tests/mutation/test_operators.py", "tests/checking/test_answers.py", "solutions/P1_one_model.ipynb")


def collected(*arguments: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *arguments]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return [line for line in ran.stdout.splitlines() if "::" in line]


def test_each_test_is_in_test_or_in_one_room() -> None:
    everything = collected(*SOME)
    of_test = collected(*rooms.of_test(), *SOME)
    of_rooms = [test for name in ("checking", "mutants") for test in collected(*rooms.of_room(name), *SOME)]
    assert of_test and of_rooms and sorted([*of_test, *of_rooms]) == sorted(everything)
    assert {test.partition("::")[0] for test in of_test} == {SOME[1], SOME[2]}


def test_a_room_that_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        rooms.of_room("attic")
    test = tmp_path / "test_it.py"
    test.write_text('import pytest\n@pytest.mark.room(name="attic")\ndef test_it(): pass\n')
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-c", str(ROOT / "pyproject.toml"), str(test)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 4 and "names no room" in ran.stderr


def test_every_folder_of_a_room_is_there() -> None:
    folders = [folder for room in rooms.ROOMS.values() for folder in room.folders]
    assert [folder for folder in folders if not (ROOT / folder).is_dir()] == []


@pytest.mark.parametrize("asked", [["--room", "site"], []])
def test_prove_says_what_each_room_adds_and_runs_it(
    asked: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess:
        ran.append(command)
        return subprocess.CompletedProcess(command, int("room(name='site')" in command))

    monkeypatch.setattr(commands.environment, "run_module", lambda *_: None)
    monkeypatch.setattr(commands.subprocess, "run", run)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    assert commands.main(["prove", *asked, "-x"]) == 1
    names = ["site"] if asked else list(rooms.ROOMS)
    assert [command[command.index("-m", 3) + 1] for command in ran] == [f"room(name='{name}')" for name in names]
    assert all(command[-1] == "-x" for command in ran)
    output = capsys.readouterr().out
    assert all(str(rooms.ROOMS[name]) in output for name in names) and "Room site: failed." in output
