"""The bubblewrap options that all rooms share: separate namespaces and the system's libraries."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

INSTALL = "`apt install bubblewrap` on Debian and Ubuntu, the package `bubblewrap` elsewhere"
_OF_THE_SYSTEM = ("lib", "lib32", "lib64", "bin", "sbin")


def opening(*capabilities: str) -> list[str]:
    """Begin a command that ends with its parent and has only these capabilities."""
    options = [shutil.which("bwrap") or "bwrap", "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    options += ["--cap-drop", "ALL"]
    for capability in capabilities:
        options += ["--cap-add", capability]
    return options


def system() -> list[str]:
    """Mount the system's programs and libraries beside ``/usr``, read-only."""
    options = []
    for place in (Path("/", name) for name in _OF_THE_SYSTEM):
        if place.is_symlink():
            options += ["--symlink", str(place.readlink()), str(place)]
        elif place.is_dir():
            options += ["--ro-bind", str(place), str(place)]
    return options


def above(paths: Iterable[str | Path]) -> list[str]:
    """The parents of some paths, outer ones first: bubblewrap would create them accessible only to itself."""
    return sorted({str(folder) for path in paths for folder in Path(path).parents} - {"/"})
