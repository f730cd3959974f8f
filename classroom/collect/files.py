"""List and read the files in a folder or zip without trusting them: no link is followed, nothing is unpacked to disk.

Zips are read in the sandbox; this module handles only the names, sizes and bytes that come out of it. A zip among the
files is treated as a folder: ``("anna", "homework.zip", "02.ipynb")``. If a file must not be read, ``refused`` says
why. Nothing that students hand in raises an error here.
"""

from __future__ import annotations

import base64
import dataclasses
import io
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from classroom import sandbox
from classroom.collect.unzipping import LEADS_OUT

JSON = Any
# Limits in bytes: for one file, for one zip, and for everything in one zip.
FILE, ARCHIVE, UNPACKED = 10 << 20, 50 << 20, 100 << 20
# Limits on the number of files: from one student or in one zip, and in a zip of the whole class.
FILES, CLASS_FILES = 2000, 100_000
DEPTH, NESTED = 12, 2
# Files that systems and tools leave behind, and the library that comes with the exercises.
_IGNORED = {".DS_Store", ".git", ".ipynb_checkpoints", ".venv", "__MACOSX", "__pycache__", "fxbook", "venv"}
_DAMAGED = "is a zip that takes more time or memory to read than any homework needs"
Parts = tuple[str, ...]


class RefusedError(Exception):
    """A file that must not or cannot be read; the message is for the student and follows the file's name."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """One file: its path below the folder, its size in bytes, and when it was saved (in seconds; 0 if unknown)."""

    parts: Parts
    size: int
    time: float
    opened: Callable[[int], bytes]
    refused: str = ""

    @property
    def name(self) -> str:
        return self.parts[-1]

    def read(self, limit: int = FILE) -> bytes:
        """Read the file.

        Raises:
            RefusedError: it is larger than ``limit`` bytes, or must not or cannot be read.
        """
        if self.refused:
            raise RefusedError(self.refused)
        if self.size > limit:
            raise RefusedError(_too_large(self.size, limit))
        try:
            data = self.opened(limit)
        except RefusedError:
            raise
        except Exception as error:
            # A damaged zip can make its reader raise almost any exception.
            raise RefusedError(f"cannot be read ({_one_line(error)})") from error
        if len(data) > limit:
            raise RefusedError(_too_large(len(data), limit))
        return data


def _too_large(size: int, limit: int) -> str:
    return f"has {size / 2**20:.0f} MB, more than the limit of {limit >> 20} MB: clear its outputs and save it"


def _one_line(error: BaseException) -> str:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(reason.split())[:120]


def below(folder: Path, parts: Parts = ()) -> Iterator[Entry]:
    """Yield the files below a folder, sorted by name. Links and devices are refused entries; caches are skipped."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield _refusal(parts or (folder.name,), f"cannot be opened ({_one_line(error)})")
        return
    for entry in entries:
        here = (*parts, entry.name)
        if ignored(entry.name):
            continue
        if entry.is_symlink():
            yield _refusal(here, "is a link, and links are not followed: hand in the file itself")
        elif entry.is_dir(follow_symlinks=False):
            if len(here) > DEPTH:
                yield _refusal(here, f"is nested more than {DEPTH} folders deep")
            else:
                yield from below(Path(entry.path), here)
        elif entry.is_file(follow_symlinks=False):
            status = entry.stat(follow_symlinks=False)
            yield Entry(here, status.st_size, status.st_mtime, _reader(entry.path))
        else:
            yield _refusal(here, "is not a file")


def ignored(name: str) -> bool:
    return name in _IGNORED or name.startswith("._")


def _reader(path: str) -> Callable[[int], bytes]:
    def read(limit: int) -> bytes:
        # Opening a pipe would block, and a link may have replaced the file since the scan.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(path, flags)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise RefusedError("is not a file")
            return file.read(limit + 1)

    return read


def _refusal(parts: Parts, reason: str) -> Entry:
    return Entry(parts, 0, 0.0, lambda _: b"", reason)


def opened(entry: Entry, depth: int = 1) -> list[Entry]:
    """The files in a zip and in zips inside it. An unusable zip becomes one refused entry.

    Args:
        depth: the number of nested zips down to and including this one.
    """
    if depth > NESTED:
        return [_refusal(entry.parts, "is a zip in a zip in a zip: hand in the notebook itself")]
    try:
        inside = in_zip(io.BytesIO(entry.read(ARCHIVE)), entry.parts, FILES)
    except RefusedError as refused:
        return [_refusal(entry.parts, str(refused))]
    return [file for member in inside for file in (opened(member, depth + 1) if is_zip(member) else [member])]


def is_zip(entry: Entry) -> bool:
    return entry.name.lower().endswith(".zip") and not entry.refused


def in_zip(source: Path | io.BytesIO, parts: Parts = (), most: int = CLASS_FILES) -> list[Entry]:
    """List the files in a zip, sorted by name, without reading them.

    Raises:
        RefusedError: the zip is damaged, or has more files or bytes than homework can have.
    """
    try:
        archive = source.open("rb") if isinstance(source, Path) else _on_disk(source)
    except OSError as error:
        raise RefusedError(f"cannot be opened ({_one_line(error)})") from error
    listing = sandbox.for_reading().list_zip(archive.fileno(), most, bounded=most == FILES).data
    match listing:
        case {"problem": str(why)}:
            raise RefusedError(why)
        case {"files": list(rows)} if len(rows) <= most and all(map(_is_row, rows)):
            entries = [_entry(archive, row, parts) for row in rows if not any(map(ignored, row["names"]))]
            return sorted(entries, key=lambda entry: entry.parts)
        case _:
            raise RefusedError(_DAMAGED)


def _on_disk(data: io.BytesIO) -> IO[bytes]:
    """Write the bytes to an unnamed temporary file."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  (the entries read it)
    file.write(data.getbuffer())
    file.flush()
    return file


def _is_row(row: JSON) -> bool:
    match row:
        case {"place": int(place), "names": [str(), *_] as names, "size": int(size), "time": float(), "refused": str()}:
            inside = all(isinstance(name, str) and "/" not in name and name not in ("", ".") for name in names)
            return len(row) == 5 and place >= 0 and size >= 0 and inside and (row["refused"] or ".." not in names)
    return False


def _entry(archive: IO[bytes], row: JSON, parts: Parts) -> Entry:
    if row["refused"] == LEADS_OUT:
        # Use the name of the zip: the path inside it must not decide whose file it is.
        return _refusal((*parts, row["names"][-1]), LEADS_OUT)

    def read(limit: int) -> bytes:
        match sandbox.for_reading().read_member(archive.fileno(), row["place"], limit).data:
            case {"problem": str(why)}:
                raise RefusedError(why)
            case {"data": str(encoded)}:
                return base64.b64decode(encoded)
            case _:
                raise RefusedError(_DAMAGED)

    return Entry((*parts, *row["names"]), row["size"], row["time"], read, row["refused"])
