"""The programs that show a fault, one a file, and the environment that they run in."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
from pathlib import Path

from press import ROOT
from press.pages.wild import FAULTS
from press.versions import environments

PINS = tuple((ROOT / "tests/wild/requirements.txt").read_text(encoding="utf-8").split())
# By package and name, as the record has them.
PROGRAMS = sorted(path.relative_to(ROOT / FAULTS).with_suffix("").as_posix() for path in (ROOT / FAULTS).glob("*/*.py"))
# They would find the program's neighbours in place of the packages that these are named for, or look for models.
_ALONE = {"PYTHONSAFEPATH": "1", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def interpreter() -> Path:
    """That of the environment with the packages; torch and the book come from the project's own.

    Raises:
        SetupError: it cannot be made.
    """
    return environments.beside(ROOT / ".venv-wild", PINS, "600 MB", lent=["torch"])


def versions() -> dict[str, str]:
    """The version of each package that has a program."""
    torch = importlib.metadata.version("torch").partition("+")[0]
    return {"torch": torch, **dict(pin.split("==") for pin in PINS)}


def said(python: Path, program: str) -> str:
    """What a program prints.

    Raises:
        RuntimeError: it fails: the package has no such fault any more.
    """
    path = ROOT / FAULTS / f"{program}.py"
    done = subprocess.run(
        [str(python), str(path)], capture_output=True, text=True, encoding="utf-8", env={**os.environ, **_ALONE}
    )
    if done.returncode:
        raise RuntimeError(f"{path.relative_to(ROOT)} shows no fault any more:\n{done.stderr[-2000:]}")
    return done.stdout.strip()
