"""An environment for another torch is made once and borrows all other packages; an error is one line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from press import ROOT
from press import __main__ as commands
from press.binding.environment import SetupError
from press.versions import environments, record, tested


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[list[str]]]:
    """The calls to uv; it makes an empty environment and fetches nothing."""
    calls: list[list[str]] = []
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    monkeypatch.setattr(environments, "_own", lambda: "2.13.0")
    monkeypatch.delenv("TORCH_INDEX", raising=False)

    def run(command: list[str], input: str = "", **_: Any) -> subprocess.CompletedProcess:
        assert command[:3] == [sys.executable, "-m", "uv"]
        calls.append([*command[3:], *input.split()])
        if command[3] == "venv":
            make()
        return subprocess.CompletedProcess(command, int("torch==2.99.0" in command), "torch==2.15.0+cpu\n")

    monkeypatch.setattr(environments.subprocess, "run", run)
    yield calls


def make() -> None:
    place = environments.folder("2.15.0")
    for folder in (environments._packages(place), environments.python(place).parent):
        folder.mkdir(parents=True, exist_ok=True)
    environments.python(place).touch()


def commands_of(calls: list[list[str]]) -> list[str]:
    return [" ".join(call[:2]) if call[0] == "pip" else call[0] for call in calls]


def test_it_is_made_once_and_borrows_all_but_torch(asked: list[list[str]], tmp_path: Path) -> None:
    python = environments.ensure("2.15.0")
    assert python.is_relative_to(tmp_path / ".venv-torch-2.15.0")
    assert commands_of(asked) == ["venv", "pip install"]
    assert "torch==2.15.0" in asked[1] and "--no-config" in asked[1]
    (shared,) = environments._packages(environments.folder("2.15.0")).glob("*.pth")
    assert repr(str(Path(pytest.__file__).parent.parent.resolve())) in shared.read_text(encoding="utf-8")
    environments.ensure("2.15.0")
    assert len(asked) == 2


def test_the_installed_version_needs_no_other_environment(asked: list[list[str]]) -> None:
    assert environments.ensure("2.13.0") == Path(sys.executable) and not asked


def test_an_interrupted_environment_is_completed(asked: list[list[str]]) -> None:
    make()
    environments.ensure("2.15.0")
    assert commands_of(asked) == ["pip install"]


def test_an_index_of_builds_is_searched(asked: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_INDEX", "https://download.pytorch.org/whl/cpu")
    assert environments.newest() == "2.15.0"
    assert asked[0][asked[0].index("--index") + 1] == "https://download.pytorch.org/whl/cpu"


@pytest.mark.parametrize("version", ["newest", "../../2.15"])
def test_invalid_version_is_rejected_in_one_line(asked: list[list[str]], version: str) -> None:
    with pytest.raises(SetupError, match=r"is not a version of torch: write it as 2\.15\.0$"):
        environments.ensure(version)
    assert not asked


@pytest.mark.parametrize("given", [["--torch", "2.15.0"], ["--torch=2.15.0"], ["-x", "--torch", "2.15.0", "-k", "a"]])
def test_the_tests_run_with_the_chosen_torch(monkeypatch: pytest.MonkeyPatch, given: list[str]) -> None:
    started: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess:
        started.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(commands.environment, "run_module", lambda *_: None)
    monkeypatch.setattr(environments, "ensure", lambda version: Path(f"python-{version}"))
    monkeypatch.setattr(commands.subprocess, "run", run)
    assert commands.main(["test", *given]) == 0
    ((python, *arguments),) = started
    assert python == "python-2.15.0" and arguments[:2] == ["-m", "pytest"] and "--torch" not in " ".join(arguments)
    assert set(tested.TESTS) <= set(arguments) and ("-x" in given) == ("-x" in arguments)


@pytest.mark.parametrize("version", ["2.6.0", "2.15.0"])
def test_a_named_test_runs_alone(version: str) -> None:
    assert tested.pytest_arguments(["-x", "chapters/04_recompile.ipynb"], version) == [
        "-x",
        "chapters/04_recompile.ipynb",
    ]


def test_with_an_older_torch_the_tests_of_the_library_run() -> None:
    paths = [one for one in tested.pytest_arguments(["-x"], "2.12.1") if not one.startswith("-")]
    assert set(paths) == set(tested.LIBRARY) < set(tested.TESTS) == set(tested.pytest_arguments([], "2.13.0"))
    ignored = [
        one.removeprefix("--ignore=") for one in tested.pytest_arguments([], "2.12.1") if one.startswith("--ignore=")
    ]
    assert len(ignored) == len(tested.ANSWERS) and all((ROOT / path).exists() for path in [*paths, *ignored])


def test_the_proven_versions_are_those_without_a_difference() -> None:
    assert {version for version in record.read().versions if tested.is_proven(version)} == set(record.ALIKE)


def test_unavailable_version_ends_in_one_line(
    asked: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands.environment, "run_module", lambda *_: None)
    for command in (["test", "--torch", "2.99.0"], ["versions", "2.99.0"]):
        assert commands.main(command) == 1
        assert capsys.readouterr().err.startswith("uv failed, with the message above") and asked
