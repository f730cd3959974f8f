"""The programs that show faults, one per file, and their environment."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
from pathlib import Path

from press import ROOT
from press.pages.wild import FAULTS
from press.versions import environments

_HERE = Path(__file__).parent
PINS = tuple((_HERE / "requirements.txt").read_text(encoding="utf-8").split())
# Each as package/name, as in the record.
PROGRAMS = sorted(path.relative_to(ROOT / FAULTS).with_suffix("").as_posix() for path in (ROOT / FAULTS).glob("*/*.py"))
PACKAGES = sorted({program.partition("/")[0] for program in PROGRAMS})
_ALONE = {"PYTHONSAFEPATH": "1", "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def interpreter() -> Path:
    """An interpreter with the packages; torch and the book come from the project's own environment.

    Raises:
        SetupError: its environment cannot be made.
    """
    return environments.with_packages(ROOT / ".venv-wild", PINS, "600 MB", lent=["torch"])


def versions() -> dict[str, str]:
    """The version of each package that has a program."""
    pinned = dict(pin.split("==") for pin in PINS) | {"torch": importlib.metadata.version("torch").partition("+")[0]}
    return {package: pinned[package] for package in PACKAGES}


def outputs(python: Path, package: str) -> dict[str, list[str]]:
    """The lines that each program for a package prints.

    Raises:
        RuntimeError: a program fails, so the package no longer has this fault.
    """
    names = [name for name in PROGRAMS if name.startswith(f"{package}/")]
    paths = [str(ROOT / FAULTS / f"{name}.py") for name in names]
    done = subprocess.run(
        [str(python), str(_HERE / "runner.py"), *paths],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, **_ALONE},
    )
    if done.returncode:
        raise RuntimeError(f"a fault of {package} no longer exists:\n{done.stderr[-2000:]}")
    return dict(zip(names, json.loads(done.stdout), strict=True))
