"""Make the project's own environment in ``.venv``; with the standard library alone, since nothing else is there yet."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

from press import ROOT

VENV = ROOT / ".venv"
OLDEST = (3, 11)
# What a command needs, each more than the one before: rendering is the extra `book` of pyproject.toml (no torch), the
# notebooks need requirements.txt, and the tests meet the systems that teachers use as well, which are pinned apart.
BOOK, NOTEBOOKS, EVERYTHING = NEEDS = ("book", "notebooks", "everything")
PINS = ("requirements.txt", "classroom/requirements.txt")
# It names a folder in which Python looks for modules behind its packages.
_PTH = "folder-of-the-book.pth"


class SetupError(Exception):
    """The environment cannot be made; the message says what to do."""


def python() -> Path:
    """The interpreter of the project's environment."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def is_current() -> bool:
    """Whether this process runs in the project's environment."""
    return Path(sys.prefix).resolve() == VENV.resolve()


def ensure(need: str) -> Path:
    """Make or complete the environment, unless that was done for the same pins before.

    Args:
        need: one of ``NEEDS``.

    Returns:
        The interpreter of the environment.

    Raises:
        SetupError: Python is too old, has no venv, or pip failed.
    """
    if sys.version_info < OLDEST:
        raise SetupError(f"Python {'.'.join(map(str, OLDEST))} or newer is needed, this is {sys.version.split()[0]}")
    fingerprint = _fingerprint()
    as_much = NEEDS[NEEDS.index(need) :]
    if any(_stamp(kind).exists() and _stamp(kind).read_text() == fingerprint for kind in as_much):
        return python()
    if not python().exists():
        print(f"Making the environment {VENV.name} …", flush=True)
        try:
            venv.create(VENV, with_pip=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise SetupError(f"cannot make {VENV}: {error}\nOn Debian and Ubuntu: apt install python3-venv") from error
    for_what = {BOOK: "rendering needs", NOTEBOOKS: "the notebooks need", EVERYTHING: "the tests need"}[need]
    print(f"Installing what {for_what} (once, a few minutes) …", flush=True)
    if need == BOOK:
        _pip("--constraint", "requirements.txt", *_project()["optional-dependencies"]["book"])
    else:
        if index := os.environ.get("TORCH_INDEX"):
            _pip("--index-url", index, "--no-deps", _pin("torch"))
        _pip(*(part for name in PINS[: NEEDS.index(need)] for part in ("--requirement", name)))
        _pip("--no-deps", "--editable", ".")
        _see_the_folder()
    _stamp(need).write_text(fingerprint)
    return python()


def run_module(need: str, module: str, arguments: list[str], folder: Path | None = None) -> int | None:
    """Run a module in the project's environment, which is made or completed first.

    Args:
        need: one of ``NEEDS``.
        module: as after ``python -m``.
        arguments: those behind it.
        folder: to run it in; by default this process's.

    Returns:
        Its exit status; ``None`` where this process is in the environment already, and goes on by itself.
    """
    try:
        interpreter = ensure(need)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    if is_current():
        return None
    return subprocess.run([str(interpreter), "-m", module, *arguments], cwd=folder).returncode


def _see_the_folder() -> None:
    """Let programs of the environment, such as ``dask``, find ``press`` and ``classroom``: the package has neither."""
    packages = sysconfig.get_path("purelib", "venv", {"base": str(VENV), "platbase": str(VENV)})
    Path(packages, _PTH).write_text(f"{ROOT}\n", encoding="utf-8")


def _stamp(need: str) -> Path:
    return VENV / f".installed-{need}"


def _fingerprint() -> str:
    wanted = "".join((ROOT / name).read_text(encoding="utf-8") for name in PINS) + repr(_project()) + sys.version
    return hashlib.sha256(wanted.encode()).hexdigest()


def _project() -> dict[str, Any]:
    import tomllib  # An older Python has none, and must get as far as its message.

    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _pin(package: str) -> str:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(f"{package}=="))


def _pip(*arguments: str) -> None:
    command = [str(python()), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    if subprocess.run(command, cwd=ROOT).returncode:
        raise SetupError("pip failed, its message stands above: mend that, then run the same command again")
