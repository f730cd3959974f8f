"""The environment is made once for the same pins, rendering needs no torch, and a failure says what to do."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from press import ROOT
from press.binding import environment
from press.binding.environment import BOOK, EVERYTHING, NOTEBOOKS, SetupError, ensure


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """What pip is asked for, in an environment that is there but empty; nothing is installed."""
    asked: list[list[str]] = []
    monkeypatch.setattr(environment, "VENV", tmp_path)
    monkeypatch.delenv("TORCH_INDEX", raising=False)
    environment.python().parent.mkdir()
    environment.python().touch()
    packages(tmp_path).mkdir(parents=True)

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess:
        asked.append(command[command.index("install") + 1 :])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(environment.subprocess, "run", run)
    return asked


def packages(folder: Path) -> Path:
    """Where an environment has its packages."""
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))


def flat(calls: list[list[str]]) -> list[str]:
    return [argument for call in calls for argument in call]


def test_rendering_asks_for_no_torch(calls: list[list[str]]) -> None:
    ensure(BOOK)
    assert "--constraint" in flat(calls) and any(name.startswith("jupyter-book") for name in flat(calls))
    assert not [name for name in flat(calls) if "torch" in name or name == "--requirement"]


def test_nothing_is_asked_for_twice(calls: list[list[str]]) -> None:
    ensure(EVERYTHING)
    assert "--requirement" in flat(calls)
    before = len(calls)
    ensure(EVERYTHING)
    ensure(BOOK)
    assert len(calls) == before


def test_what_is_there_for_less_does_not_count_for_more(calls: list[list[str]]) -> None:
    for need in (BOOK, NOTEBOOKS, EVERYTHING):
        before = len(calls)
        ensure(need)
        assert len(calls) > before


def test_a_reader_gets_nothing_of_what_only_teachers_use(calls: list[list[str]]) -> None:
    ensure(NOTEBOOKS)
    assert "requirements.txt" in flat(calls) and "classroom/requirements.txt" not in flat(calls)
    ensure(EVERYTHING)
    assert "classroom/requirements.txt" in flat(calls)


def test_programs_of_the_environment_find_what_the_package_leaves_out(
    calls: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `dask worker` or `pytest`, from any folder; where no project is installed, as for rendering, none has to."""
    ensure(BOOK)
    assert not [*packages(tmp_path).iterdir()]
    ensure(NOTEBOOKS)
    monkeypatch.undo()
    code = f"import site, sys; site.addsitedir({str(packages(tmp_path))!r}); import press, classroom; print(press.ROOT)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.strip() == str(ROOT), done.stderr


def test_a_cpu_index_is_asked_for_torch_first(calls: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_INDEX", "file:///wheels")
    ensure(EVERYTHING)
    pin = next(line for line in (ROOT / "requirements.txt").read_text().splitlines() if line.startswith("torch=="))
    assert calls[0][-4:] == ["--index-url", "file:///wheels", "--no-deps", pin]


def test_a_failed_install_says_so_and_is_tried_again(calls: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    working = environment.subprocess.run
    monkeypatch.setattr(environment.subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1))
    with pytest.raises(SetupError, match="mend that, then run the same command again"):
        ensure(BOOK)
    monkeypatch.setattr(environment.subprocess, "run", working)
    ensure(BOOK)
    assert calls


def test_an_old_python_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 0))
    with pytest.raises(SetupError, match=r"Python 3\.11 or newer is needed"):
        ensure(BOOK)


def test_an_unknown_command_is_told_without_a_traceback() -> None:
    done = subprocess.run([sys.executable, "-m", "press", "bind"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "invalid choice: 'bind'" in done.stderr and "Traceback" not in done.stderr
