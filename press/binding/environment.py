"""Make the project's environment in ``.venv``, using only the standard library."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

from press import ROOT
from press.binding.installing import Heartbeat, PipProgress, install

VENV = ROOT / ".venv"
OLDEST = (3, 11)
BOOK, LEARN, NOTEBOOKS, EVERYTHING = "book", "learn", "notebooks", "everything"
PINS = ("requirements.txt", "classroom/requirements.txt")


@dataclasses.dataclass(frozen=True)
class Need:
    """What a command needs.

    Args:
        whose: who needs it, for a message: ``"learners need"``.
        met_by: the needs that include this one.
        megabytes: the size of the download, without torch; measured on Linux, like ``seconds``.
        seconds: the time that the set-up takes besides the download, with the CPU build of torch.
        extras: the extras in ``pyproject.toml`` to install, in the pinned versions.
        pins: the files whose pins are all installed if there are no extras.
        torch: whether it includes torch and the book's own package.
    """

    whose: str
    met_by: tuple[str, ...]
    megabytes: int
    seconds: int
    extras: tuple[str, ...] = ()
    pins: tuple[str, ...] = ()
    torch: bool = True


# Rendering needs no torch. Learners need neither Sphinx nor the tests. The tests also use the teachers' learning
# platforms, which have their own pins.
NEEDS = {
    BOOK: Need("rendering needs", (BOOK, NOTEBOOKS, EVERYTHING), 70, 40, ("book",), torch=False),
    LEARN: Need(
        "learners need", (LEARN, NOTEBOOKS, EVERYTHING), 135, 100, ("torch", "models", "notebooks", "lab", "press")
    ),
    NOTEBOOKS: Need("the notebooks need", (NOTEBOOKS, EVERYTHING), 300, 110, pins=PINS[:1]),
    EVERYTHING: Need("the tests need", (EVERYTHING,), 350, 120, pins=PINS),
}
# The megabytes of torch 2.13.0: the CPU build, and the ordinary one for Linux, with CUDA; and the additional seconds to
# unpack the latter.
_TORCH, _TORCH_WITH_CUDA, _UNPACK_CUDA = 190, 2740, 80
# Assumed megabytes a second: 50 Mbit/s.
_SPEED = 6.25


class SetupError(Exception):
    """The environment cannot be made; the message says what to do."""


def python() -> Path:
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def is_current() -> bool:
    return Path(sys.prefix).resolve() == VENV.resolve()


def ensure(need: str) -> Path:
    """Make or complete the environment unless it is up to date with the pins; return its interpreter.

    Raises SetupError if Python is too old or has no venv, or if pip failed.
    """
    if sys.version_info < OLDEST:
        raise SetupError(f"Python {'.'.join(map(str, OLDEST))} or newer is needed, this is {sys.version.split()[0]}")
    fingerprint = _fingerprint()
    if any(_stamp(kind).exists() and _stamp(kind).read_text() == fingerprint for kind in NEEDS[need].met_by):
        return python()
    print(_announcement(NEEDS[need]), flush=True)
    heartbeat = Heartbeat()
    if not python().exists():
        _make(heartbeat)
    _fill(NEEDS[need], heartbeat)
    _stamp(need).write_text(fingerprint)
    heartbeat.say("done")
    return python()


def run_module(need: str, module: str, arguments: list[str], folder: Path | None = None) -> int | None:
    """Make or complete the project's environment, and run a module in it.

    Returns:
        Its exit status; ``None`` if this process is already in the environment and can continue by itself.
    """
    try:
        interpreter = ensure(need)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    if is_current():
        return None
    return subprocess.run([str(interpreter), "-m", module, *arguments], cwd=folder).returncode


def _announcement(need: Need) -> str:
    has_torch = any(_packages().glob("torch-*.dist-info"))
    small = _download_estimate(need.megabytes + (_TORCH if need.torch and not has_torch else 0), need.seconds)
    opening = f"Setting up {VENV.name}, only once, with what {need.whose}. Download: at most "
    if not need.torch or has_torch or sys.platform != "linux" or os.environ.get("TORCH_INDEX"):
        return f"{opening}{small}."
    large = _download_estimate(need.megabytes + _TORCH_WITH_CUDA, need.seconds + _UNPACK_CUDA)
    return f"{opening}{large}, nearly all for CUDA.\nWith TORCH_INDEX (see README.md): {small}."


def _download_estimate(megabytes: int, seconds: int) -> str:
    """``"325 MB, about 3 minutes at 50 Mbit/s"``."""
    minutes = math.ceil((megabytes / _SPEED + seconds) / 60)
    size = f"{megabytes / 1000:.1f} GB" if megabytes >= 1000 else f"{megabytes} MB"
    return f"{size}, about {minutes} minute{'s' * (minutes > 1)} at {_SPEED * 8:.0f} Mbit/s"


def _make(heartbeat: Heartbeat) -> None:
    try:
        with heartbeat.during(lambda: f"making {VENV.name}"):
            venv.create(VENV, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SetupError(f"cannot make {VENV}: {error}\nOn Debian and Ubuntu: apt install python3-venv") from error


def _fill(need: Need, heartbeat: Heartbeat) -> None:
    if need.torch and (index := os.environ.get("TORCH_INDEX")):
        _pip(heartbeat, 1, "--index-url", index, "--no-deps", _pin("torch"))
    if not need.torch:
        extras = _project()["optional-dependencies"]
        _pip(heartbeat, None, "--constraint", PINS[0], *(name for extra in need.extras for name in extras[extra]))
    elif need.extras:
        _pip(heartbeat, None, "--constraint", PINS[0], "--editable", f".[{','.join(need.extras)}]")
    else:
        pins = sum(len(_pins(file)) for file in need.pins)
        _pip(heartbeat, pins, *(part for file in need.pins for part in ("--requirement", file)))
        _pip(heartbeat, None, "--no-deps", "--editable", ".")


def _packages() -> Path:
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(VENV), "platbase": str(VENV)}))


def _stamp(need: str) -> Path:
    return VENV / f".installed-{need}"


def _fingerprint() -> str:
    wanted = "".join((ROOT / name).read_text(encoding="utf-8") for name in PINS) + repr(_project()) + sys.version
    return hashlib.sha256(wanted.encode()).hexdigest()


def _project() -> dict[str, Any]:
    import tomllib  # A Python without it is too old, and must get as far as the message that says so.

    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _pins(file: str) -> list[str]:
    return [line for line in (ROOT / file).read_text(encoding="utf-8").splitlines() if re.match(r"[\w.-]+==", line)]


def _pin(package: str) -> str:
    return next(line for line in _pins(PINS[0]) if line.startswith(f"{package}=="))


def _pip(heartbeat: Heartbeat, total: int | None, *arguments: str) -> None:
    """Install packages; ``total`` is how many, or ``None`` if only pip knows."""
    progress = PipProgress(total, _packages())
    if not install([str(python()), "-m", "pip"], [*arguments], progress, heartbeat, ROOT):
        advice = "pip failed, with the message above: fix that, then run the same command again"
        raise SetupError(f"{progress.complaint()}\n{advice}")
