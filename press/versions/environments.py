"""An environment with another torch beside the project's own, which lends it all that is not torch."""

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
# What a `.pth` file of the environment says: behind its own packages come those of the environment that runs the press.
_SHARED = "import site; site.addsitedir({packages!r})\n"
_STAMP = ".complete"
_PTH = "of-the-book.pth"
# torch of before 2.9 imports it, and names it as a need on newer versions of Python alone.
_BESIDE = "setuptools<80"


def folder(version: str) -> Path:
    """Where the environment of a version of torch lies: beside ``.venv``."""
    return ROOT / f".venv-torch-{version}"


def python(version: str) -> Path:
    """The interpreter of that environment."""
    return folder(version) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def ensure(version: str) -> Path:
    """Make the environment of a version of torch, unless it is there.

    Args:
        version: as torch names it, ``"2.15.0"``.

    Returns:
        Its interpreter; that of ``.venv`` where this is the version there.

    Raises:
        SetupError: there is no such version, or uv failed.
    """
    if not _VERSION.fullmatch(version):
        raise SetupError(f"{version!r} is no version of torch: write it as 2.15.0")
    if version == _own():
        return Path(sys.executable)
    stamp = folder(version) / _STAMP
    if stamp.is_file():
        return python(version)
    print(f"torch {version} goes into {folder(version).name}; a build for CUDA takes up to 7 GB.", flush=True)
    if not python(version).exists():
        _uv("venv", "--quiet", "--python", sys.executable, str(folder(version)))
    # The project's own settings leave triton and CUDA out, which is right for pins alone: --no-config.
    wanted = (f"torch=={version}", _BESIDE)
    _uv("pip", "install", "--no-config", *_index(), "--python", str(python(version)), *wanted)
    shared = _SHARED.format(packages=str(Path(sysconfig.get_path("purelib")).resolve()))
    (_packages(version) / _PTH).write_text(shared, encoding="utf-8")
    stamp.touch()
    return python(version)


def newest() -> str:
    """The newest version of torch that can be installed here.

    Raises:
        SetupError: the index did not answer.
    """
    command = ("pip", "compile", "--quiet", "--no-config", "--no-header", "--no-deps", *_index())
    told = _uv(*command, "--python", sys.executable, "-", given="torch")
    return re.findall(r"^torch==([^\s+]+)", told, re.MULTILINE)[0]


def _own() -> str:
    """The version of torch in the environment that runs the press, as ``"2.13.0"``; ``""`` where none is."""
    try:
        return importlib.metadata.version("torch").partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return ""


def _index() -> Sequence[str]:
    index = os.environ.get("TORCH_INDEX")
    return ("--index", index) if index else ()


def _packages(version: str) -> Path:
    paths = sysconfig.get_paths(vars={"base": str(folder(version)), "platbase": str(folder(version))})
    return Path(paths["purelib"])


def _uv(*arguments: str, given: str = "") -> str:
    """What uv prints; its messages and its progress are shown."""
    done = subprocess.run([sys.executable, "-m", "uv", *arguments], input=given, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SetupError("uv failed, its message stands above: mend that, then run the same command again")
    return done.stdout
