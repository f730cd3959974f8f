"""The bubble in which a student's server runs: this student's folder, Python and the checks; nobody else's files.

Network and time are not limited here, other than in :mod:`classroom.sandbox`, where submissions are graded: a server
has to be reached, and to reach the hub.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import fxbook
from classroom.sandbox import bwrap

BOOK, RELEASES, START = "/book", "/releases", "/book/start.py"
_FROM_ETC = (
    "alternatives",
    "fonts",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "resolv.conf",
    "ssl",
)
_SCRATCH = 256 << 20


def command(home: Path, inside: str, releases: Path, *, switch: bool = False) -> list[str]:
    """What to put before a command so that it runs in a new bubble.

    Args:
        home: the student's folder, all that can be written and that lasts.
        inside: its path in the bubble.
        releases: the folder of the zips, seen as ``/releases``.
        switch: the command starts as root and becomes another user by itself.

    The bubble ends with the process that started it, and all its processes with it.
    """
    options = [*bwrap.opening(*(("CAP_SETUID", "CAP_SETGID") if switch else ())), *bwrap.system()]
    shown = {place: place for place in _seen()}
    shown |= {place: place for name in _FROM_ETC if Path(place := f"/etc/{name}").exists()}
    shown |= {f"{BOOK}/fxbook": str(Path(fxbook.__file__).parent), START: str(Path(__file__).with_name("start.py"))}
    shown |= {RELEASES: str(releases), "/etc/jupyter": str(Path(__file__).with_name("settings"))}
    # First, since Python itself may lie below /tmp.
    options += ["--proc", "/proc", "--dev", "/dev"]
    for place in ("/tmp", "/dev/shm"):
        options += ["--size", str(_SCRATCH), "--perms", "1777", "--tmpfs", place]
    for folder in bwrap.above([*shown, inside]):
        if folder not in ("/usr", "/tmp"):
            options += ["--perms", "0755", "--dir", folder]
    for place, source in shown.items():
        options += ["--ro-bind", source, place]
    # How Jupyter is set up beside the book is the teacher's, nbgrader's pages for one.
    if (teachers := Path(sys.prefix, "etc/jupyter")).is_dir():
        options += ["--tmpfs", str(teachers)]
    return [*options, "--bind", str(home), inside, "--remount-ro", "/", "--chdir", "/", "--"]


def _seen() -> list[str]:
    """The system's programs, and Python with its packages."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    return sorted({"/usr", *prefixes, *map(os.path.realpath, prefixes)})


def refusal(folder: Path) -> str:
    """Why no bubble can be made here, and what to do; ``""`` where one can.

    Args:
        folder: the hub's, or one in it.
    """
    if not shutil.which("bwrap"):
        return f"bubblewrap is not installed: {bwrap.INSTALL}."
    private = {"the hub's folder": folder.resolve()}
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "solutions").exists():
        private["the checkout of the book"] = checkout
    for what, where in private.items():
        if visible := next((place for place in _seen() if where.is_relative_to(place)), ""):
            return f"{where}, {what}, lies in {visible}, which students see: move it."
    trial = [*command(folder, "/home/trial", folder, switch=os.geteuid() == 0), sys.executable, "-c", "import fxbook"]
    try:
        ran = subprocess.run(
            trial, env={"PYTHONPATH": BOOK}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not run here ({error})."
    if ran.returncode:
        message = (ran.stderr.strip().splitlines() or [f"it ended with status {ran.returncode}"])[-1]
        return (
            f"bubblewrap does not work here ({message}). Allow namespaces of users (`sysctl user.max_user_namespaces`, "
            "on Ubuntu also `sysctl kernel.apparmor_restrict_unprivileged_userns=0`). A container keeps bubblewrap "
            "from making them: run the hub on the machine itself, or give each student a container, as in a cluster."
        )
    return ""
