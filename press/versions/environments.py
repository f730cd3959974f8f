"""An environment with another torch beside the project's own, which lends it all that is not torch."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
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
_BESIDE = ("setuptools<80",)


@dataclasses.dataclass(frozen=True)
class Fetch:
    """What one version of torch brings: the lock file that names each package, how many they are, and their bytes.

    ``size`` is ``None`` where the index tells no sizes. What uv has in its cache is not fetched again.
    """

    lock: str
    packages: int
    size: int | None

    @property
    def told(self) -> str:
        """``"29 packages, 2.6 GB to fetch at most"``."""
        fetched = (
            "of a size that the index does not tell" if self.size is None else f"{self.size / 1e9:.1f} GB to fetch"
        )
        return f"{self.packages} packages, {fetched}"


def folder(version: str) -> Path:
    """Where the environment of a version of torch lies: beside ``.venv``."""
    return ROOT / f".venv-torch-{version}"


def python(version: str) -> Path:
    """The interpreter of that environment."""
    return folder(version) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def ensure(version: str) -> Path:
    """Make the environment of a version of torch, unless it is there; say first what is fetched, and where to.

    Args:
        version: as torch names it, ``"2.15.0"``.

    Returns:
        Its interpreter; that of ``.venv`` where this is the version there.

    Raises:
        SetupError: there is no such version, the disk is too small for it, or uv failed.
    """
    if not _VERSION.fullmatch(version):
        raise SetupError(f"{version!r} is no version of torch: write it as 2.15.0")
    if version == _own():
        return Path(sys.executable)
    stamp = folder(version) / _STAMP
    if stamp.is_file():
        return python(version)
    fetch = resolve(version)
    free = shutil.disk_usage(ROOT).free
    print(f"torch {version}: {fetch.told} into {folder(version).name}, {free / 1e9:.0f} GB are free here.", flush=True)
    # Unpacked, a build for CUDA takes about twice what was fetched.
    if fetch.size and free < 3 * fetch.size:
        raise SetupError(f"The disk is too small: torch {version} needs about {3 * fetch.size / 1e9:.0f} GB of it.")
    if not python(version).exists():
        _uv("venv", "--quiet", "--python", sys.executable, str(folder(version)))
    _install(version, fetch)
    shared = _SHARED.format(packages=str(Path(sysconfig.get_path("purelib")).resolve()))
    (_packages(version) / _PTH).write_text(shared, encoding="utf-8")
    stamp.touch()
    return python(version)


def resolve(version: str) -> Fetch:
    """What a version of torch brings along, as the index tells it; nothing of it is fetched.

    Raises:
        SetupError: there is no such version, or the index did not answer.
    """
    done = _compile(f"torch=={version}")
    if done.returncode == 0:
        packages = tomllib.loads(done.stdout)["packages"]
        files = [package["wheels"][0] if "wheels" in package else package["sdist"] for package in packages]
        sizes = [file.get("size") for file in files]
        return Fetch(done.stdout, len(packages), None if None in sizes else sum(sizes))
    if "no version of torch" in done.stderr or "no wheels" in done.stderr:
        here = f"Python {platform.python_version()} on {platform.system()}"
        raise SetupError(f"There is no torch {version} for {here}; the newest is {newest()}.")
    raise SetupError(_why(done))


def newest() -> str:
    """The newest version of torch that can be installed here.

    Raises:
        SetupError: the index did not answer.
    """
    done = _compile("torch")
    if done.returncode:
        raise SetupError(_why(done))
    packages = tomllib.loads(done.stdout)["packages"]
    return next(package["version"] for package in packages if package["name"] == "torch").partition("+")[0]


def _own() -> str:
    """The version of torch in the environment that runs the press, as ``"2.13.0"``; ``""`` where none is."""
    try:
        return importlib.metadata.version("torch").partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return ""


def _compile(requirement: str) -> subprocess.CompletedProcess[str]:
    # The project's own settings leave triton and CUDA out, which is right for pins alone: --no-config.
    command = ["pip", "compile", "--quiet", "--no-config", "--no-header", "--format", "pylock.toml", *_index()]
    asked = "\n".join([requirement, *_BESIDE])
    return _uv(*command, "--python", sys.executable, "-", given=asked, check=False)


def _install(version: str, fetch: Fetch) -> None:
    with tempfile.TemporaryDirectory() as place:
        lock = Path(place) / "pylock.toml"
        lock.write_text(fetch.lock, encoding="utf-8")
        _uv("pip", "install", "--quiet", "--no-config", "--python", str(python(version)), "--requirement", str(lock))


def _index() -> Sequence[str]:
    index = os.environ.get("TORCH_INDEX")
    return ("--index", index) if index else ()


def _packages(version: str) -> Path:
    paths = sysconfig.get_paths(vars={"base": str(folder(version)), "platbase": str(folder(version))})
    return Path(paths["purelib"])


def _uv(*arguments: str, given: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
    # Progress is shown while something is fetched, and messages are kept where they are to be understood.
    command = [sys.executable, "-m", "uv", *arguments]
    kept = None if check else subprocess.PIPE
    done = subprocess.run(command, input=given, stdout=kept, stderr=kept, text=True)
    if check and done.returncode:
        raise SetupError("uv failed, its message stands above: mend that, then run the same command again")
    return done


def _why(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return f"uv could not ask the index: {lines[-1] if lines else 'it said nothing'}"
