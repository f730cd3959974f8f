"""How bubblewrap is told what every room of the sandbox has: namespaces of its own, the system's libraries."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

INSTALL = "`apt install bubblewrap` on Debian and Ubuntu, the package `bubblewrap` elsewhere"
_OF_THE_SYSTEM = ("lib", "lib32", "lib64", "bin", "sbin")


def opening(*capabilities: str) -> list[str]:
    """How each command begins: it ends with the process that started it, and has no right but these."""
    options = [shutil.which("bwrap") or "bwrap", "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    options += ["--cap-drop", "ALL"]
    for capability in capabilities:
        options += ["--cap-add", capability]
    return options


def system() -> list[str]:
    """Show the system's programs and libraries where they lie beside ``/usr``, read-only."""
    options = []
    for place in (Path("/", name) for name in _OF_THE_SYSTEM):
        if place.is_symlink():
            options += ["--symlink", str(place.readlink()), str(place)]
        elif place.is_dir():
            options += ["--ro-bind", str(place), str(place)]
    return options


def above(paths: Iterable[str | Path]) -> list[str]:
    """The folders above some paths, outer ones first: bubblewrap would make them for itself alone to enter."""
    return sorted({str(folder) for path in paths for folder in Path(path).parents} - {"/"})
