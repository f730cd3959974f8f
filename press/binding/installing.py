"""Run pip and report its progress in plain lines, using only the standard library."""

from __future__ import annotations

import contextlib
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

# Seconds between two lines.
EVERY = 4.0
# How many of pip's last lines the report of a failure shows, besides its errors.
_LAST_LINES = 40
_FILE = re.compile(r"(?P<name>.+?)-(?P<version>\d[^-]*?)(-.*)?\.(whl|tar\.gz|zip)")
_ADDRESS = re.compile(r"\w[\w+.-]*://(?:[^\s/@]*@)?(?P<host>[^\s/:'\"]*)\S*|\bhost='(?P<named>[^']+)'")


class Heartbeat:
    """Prints a line of progress every few seconds, each with the seconds since the set-up began."""

    def __init__(self, every: float = EVERY) -> None:
        self.every = every
        self._begun = time.monotonic()

    def say(self, text: str) -> None:
        print(f"{time.monotonic() - self._begun:5.0f} s  {text}", flush=True)

    @contextlib.contextmanager
    def during(self, text: Callable[[], str]) -> Iterator[None]:
        over = threading.Event()

        def beat() -> None:
            while not over.wait(self.every):
                self.say(text())

        self.say(text())
        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


class PipProgress:
    """The progress of pip, read from its output; unknown lines change nothing.

    ``total`` is how many packages there are to fetch, or ``None`` if only pip knows; ``packages`` is the folder for
    them.
    """

    def __init__(self, total: int | None, packages: Path) -> None:
        self._total, self._packages = total, packages
        self._looked_up: set[str] = set()
        self._fetched: set[str] = set()
        self._order: list[str] = []
        self._installs_since = 0.0
        self._now, self._since = "starting pip", time.monotonic()
        self._unknown: list[str] = []
        self._hosts: set[str] = set()

    def read(self, line: str) -> None:
        self._hosts |= {match["host"] or match["named"] for match in _ADDRESS.finditer(line)} - {"", None}
        for pattern, meaning in _MEANINGS:
            if match := pattern.match(line.strip()):
                meaning(self, match)
                return
        self._unknown.append(line.rstrip())

    def status(self) -> str:
        """``"34 of 197 packages fetched, fetching torch 2.13.0 (191.8 MB) for 8 s"``."""
        count = self._installed() if self._order else self._gathered()
        seconds = int(time.monotonic() - self._since)
        return f"{count}{self._now}{f' for {seconds} s' if seconds else ''}"

    def complaint(self) -> str:
        """The errors and the last lines of a failed pip, without addresses, which may contain a password."""
        last = len(self._unknown) - _LAST_LINES
        shown = "\n".join(line for at, line in enumerate(self._unknown) if at >= last or "error" in line.lower())
        shown = _ADDRESS.sub("(address)", shown)
        return re.sub("|".join(map(re.escape, self._hosts)), "(address)", shown) if self._hosts else shown

    def _gathered(self) -> str:
        done = len(self._fetched) - self._now.startswith("fetching")
        if self._fetched:
            return f"{self._counted(done)} fetched, "
        return f"{self._counted(len(self._looked_up))} looked up, " if self._looked_up else ""

    def _counted(self, count: int) -> str:
        of_all = f" of {self._total}" if self._total else ""
        return f"{count}{of_all} package{'' if (self._total or count) == 1 else 's'}"

    def _installed(self) -> str:
        # pip is silent until the last package is installed; this file is nearly the last that it writes for each.
        written = sum(self._is_new(path) for path in self._packages.glob("*.dist-info/INSTALLER"))
        done = min(written, len(self._order) - 1)
        self._step(f"unpacking {self._order[done]}")
        return f"{done} of {len(self._order)} packages installed, "

    def _is_new(self, path: Path) -> bool:
        with contextlib.suppress(OSError):  # pip may have removed an older version's file in the meantime.
            return path.stat().st_mtime >= self._installs_since
        return False

    def _step(self, what: str) -> None:
        if what != self._now:
            self._now, self._since = what, time.monotonic()

    def _ignore(self, _: re.Match[str]) -> None:
        """A line that says nothing about progress."""

    def _not_for_this_system(self, _: re.Match[str]) -> None:
        self._total = self._total and self._total - 1

    def _look_up(self, match: re.Match[str]) -> None:
        self._looked_up.add(match[1])
        self._step(f"looking up {match[1]}")

    def _fetch(self, match: re.Match[str]) -> None:
        # pip does not report the end of a small download.
        is_small = "kB" in match[2] or "byte" in match[2]
        self._fetched.add(_name(match[1]))
        self._step(f"reading {_release(match[1])}" if is_small else f"fetching {_release(match[1])} ({match[2]})")

    def _came(self, _: re.Match[str]) -> None:
        self._step(re.sub(r"fetching (.+) \(.*", r"reading \1", self._now))

    def _have(self, match: re.Match[str]) -> None:
        self._fetched.add(_name(match[1]))
        self._step(f"reading {_release(match[1])}")

    def _prepare(self, _: re.Match[str]) -> None:
        self._step("preparing the book's own package")

    def _install(self, match: re.Match[str]) -> None:
        self._order = match[1].split(", ")
        # The times of files can be coarser than the process's clock.
        self._installs_since = time.time() - 1


# The lines that pip prints, from version 23.2, which comes with Python 3.11, to the newest so far.
_MEANINGS = tuple(
    (re.compile(pattern), meaning)
    for pattern, meaning in (
        (r"Ignoring \S+: markers", PipProgress._not_for_this_system),
        (r"Collecting ([\w.-]+)", PipProgress._look_up),
        (r"(?:Downloading|Using cached) \S+\.metadata", PipProgress._ignore),
        (r"Downloading (\S+) \((.+)\)", PipProgress._fetch),
        (r"(?:Using cached|Processing|Requirement already satisfied:) ([^\s<>=!~;\[]+)", PipProgress._have),
        (r"\S+ \S+/\S+ [kMG]?B ", PipProgress._came),
        (r"Obtaining file:|Installing build dep|Preparing editable|Building editable", PipProgress._prepare),
        (r"Installing collected packages: (.+)", PipProgress._install),
        (r"Looking in |WARNING: Location |Obtaining dependency information", PipProgress._ignore),
        (r"Attempting uninstall|Found existing|Uninstalling|Successfully ", PipProgress._ignore),
    )
)


def install(pip: list[str], arguments: list[str], progress: PipProgress, heartbeat: Heartbeat, folder: Path) -> bool:
    """Run ``pip install`` in a folder and report its progress; return whether it succeeded.

    ``pip`` is the command that starts pip.
    """
    # Nobody would see a prompt, so pip has to fail instead.
    options = ["--disable-pip-version-check", "--no-input"]
    command = [*pip, "install", *options, *arguments]
    with heartbeat.during(progress.status), _started(command, folder) as running:
        for line in running.stdout or ():
            progress.read(line)
    return running.returncode == 0


def _started(command: list[str], folder: Path) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=subprocess.STDOUT, text=True, errors="replace")


def _release(file: str) -> str:
    """``"torch 2.13.0+cpu"`` from the path or name of a package file."""
    name = file.rpartition("/")[2]
    match = _FILE.fullmatch(name)
    return f"{match['name']} {match['version']}" if match else name


def _name(file: str) -> str:
    return re.sub(r"[-_.]+", "-", _release(file).split()[0]).lower()
