"""Environments with another torch or other packages, which borrow everything else from the project's environment."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from press import ROOT
from press.binding.environment import SetupError

_VERSION = re.compile(r"\d+(\.\d+)+(\.?(a|b|rc|dev|post)\d+)?")
# The line in a `.pth` file by which the environment borrows packages from the one that runs the press.
_SHARED = "import site; site.addsitedir({packages!r})\n"
_STAMP = ".complete"
_PTH = "of-the-book.pth"
# torch before 2.9 imports this, but requires it only on newer versions of Python.
_BESIDE = "setuptools<80"


def folder(version: str) -> Path:
    return ROOT / f".venv-torch-{version}"


def python(place: Path) -> Path:
    return place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def ensure(version: str) -> Path:
    """Make the environment of a version of torch, ``"2.15.0"``, unless it exists; return its interpreter.

    Raises SetupError if there is no such version, or if uv failed.
    """
    if not _VERSION.fullmatch(version):
        raise SetupError(f"{version!r} is not a version of torch: write it as 2.15.0")
    if version == _own():
        return Path(sys.executable)
    size = "a build for CUDA takes up to 7 GB"
    return with_packages(folder(version), (f"torch=={version}", _BESIDE), size, options=_index())


def with_packages(
    place: Path, wanted: Sequence[str], size: str, *, options: Sequence[str] = (), lent: Sequence[str] = ()
) -> Path:
    """Make an environment, unless it exists with the same packages; return its interpreter.

    ``lent`` are required packages that are not installed, but borrowed from the project's environment. Raises
    SetupError if uv failed.
    """
    stamp, packages = place / _STAMP, "\n".join(wanted)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == packages:
        return python(place)
    print(f"Installing {', '.join(wanted)} in {place.name}: {size}.", flush=True)
    if not python(place).exists():
        _uv("venv", "--quiet", "--python", sys.executable, str(place))
    # --no-config, since the project's own settings exclude triton and CUDA, which is right only for pins.
    install = ("pip", "install", "--no-config", *options, "--python", str(python(place)), "--excludes", "-")
    _uv(*install, *wanted, given="\n".join(lent))
    shared = _SHARED.format(packages=str(Path(sysconfig.get_path("purelib")).resolve()))
    (_packages(place) / _PTH).write_text(shared, encoding="utf-8")
    stamp.write_text(packages, encoding="utf-8")
    return python(place)


def newest() -> str:
    """The newest version of torch that can be installed here. Raises SetupError if the package index did not answer."""
    command = ("pip", "compile", "--quiet", "--no-config", "--no-header", "--no-deps", *_index())
    pins = _uv(*command, "--python", sys.executable, "-", given="torch")
    return re.findall(r"^torch==([^\s+]+)", pins, re.MULTILINE)[0]


def _own() -> str:
    try:
        return importlib.metadata.version("torch").partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return ""


def _index() -> Sequence[str]:
    index = os.environ.get("TORCH_INDEX")
    return ("--index", index) if index else ()


def _packages(place: Path) -> Path:
    return Path(sysconfig.get_paths(vars={"base": str(place), "platbase": str(place)})["purelib"])


def _uv(*arguments: str, given: str = "") -> str:
    """The output of uv; its messages and progress are shown."""
    done = subprocess.run([sys.executable, "-m", "uv", *arguments], input=given, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SetupError("uv failed, with the message above: fix that, then run the same command again")
    return done.stdout
