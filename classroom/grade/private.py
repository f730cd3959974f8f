"""Write files that only the teacher may read.

Files get mode 0600 and new folders 0700 where the system supports modes. Existing folders are left unchanged;
:func:`open_to_others` reports them.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import IO

_POSIX = os.name == "posix"
_FILE, _FOLDER = 0o600, 0o700
_WRITE = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0)


def make_folder(folder: Path) -> None:
    """Create the folder and its missing parents, accessible only to their owner.

    Raises:
        OSError: it cannot be created.
    """
    missing = []
    while not folder.is_dir() and folder != folder.parent:
        missing.append(folder)
        folder = folder.parent
    for ancestor in reversed(missing):
        ancestor.mkdir(_FOLDER, exist_ok=True)


def close_folder(folder: Path) -> None:
    """Deny other users access to a folder in which only this package writes."""
    if _POSIX:
        with contextlib.suppress(OSError):
            folder.chmod(_FOLDER)


def open_to_others(folder: Path) -> bool:
    """Whether other users of the machine can read the folder."""
    return _POSIX and bool(stat.S_IMODE(folder.stat().st_mode) & 0o077)


def append_to(path: Path) -> IO[bytes]:
    """Open a file for appending, and create it if missing.

    Raises:
        OSError: it cannot be written.
    """
    file = os.fdopen(os.open(path, _WRITE | os.O_APPEND, _FILE), "ab")
    _close(path)
    return file


def write(path: Path, data: bytes) -> None:
    """Write a file atomically, unless it has this content already.

    Raises:
        OSError: it cannot be written.
    """
    if path.is_file() and path.read_bytes() == data:
        _close(path)
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with contextlib.suppress(FileNotFoundError):
        part.unlink()
    try:
        with os.fdopen(os.open(part, _WRITE | os.O_EXCL, _FILE), "wb") as file:
            file.write(data)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _close(path: Path) -> None:
    if _POSIX and stat.S_IMODE(path.stat().st_mode) & 0o077:
        path.chmod(_FILE)
