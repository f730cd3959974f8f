"""The files of a folder or of a zip, without trust: nothing is followed, unpacked to disk or read beyond its limits.

What is in a zip is read in the sandbox; here are only the names, sizes and bytes that came out of it.

A zip among the files is a folder to whoever reads this: ``("anna", "homework.zip", "02.ipynb")``. What may not be read
says why in ``refused``; nothing here raises for what students hand in.
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
# Of one file that is read, of one zip, and of everything in one zip.
FILE, ARCHIVE, UNPACKED = 10 << 20, 50 << 20, 100 << 20
# Of the files of one student, or in one zip; of a zip of the whole class.
FILES, CLASS_FILES = 2000, 100_000
DEPTH, NESTED = 12, 2
# What systems and tools leave behind, and the library that comes with the exercises.
_IGNORED = {".DS_Store", ".git", ".ipynb_checkpoints", ".venv", "__MACOSX", "__pycache__", "fxbook", "venv"}
_DAMAGED = "is a zip whose reading takes more time or memory than any homework needs"
Parts = tuple[str, ...]


class RefusedError(Exception):
    """A file that may not or cannot be read; the message says why, for the student, after the name of the file."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """One file: where it lies below the folder, its size in bytes, when it was saved (seconds, 0 where unknown)."""

    parts: Parts
    size: int
    time: float
    opened: Callable[[int], bytes]
    refused: str = ""

    @property
    def name(self) -> str:
        """The name of the file itself."""
        return self.parts[-1]

    def read(self, limit: int = FILE) -> bytes:
        """Its bytes.

        Raises:
            RefusedError: it is larger than ``limit`` bytes, or may not or cannot be read.
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
            # A damaged zip fails in its reader in as many ways as there are damages.
            raise RefusedError(f"cannot be read ({_one_line(error)})") from error
        if len(data) > limit:
            raise RefusedError(_too_large(len(data), limit))
        return data


def _too_large(size: int, limit: int) -> str:
    return f"has {size / 2**20:.0f} MB, more than the {limit >> 20} MB that are read: clear its outputs and save it"


def _one_line(error: BaseException) -> str:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(reason.split())[:120]


def below(folder: Path, parts: Parts = ()) -> Iterator[Entry]:
    """The files below a folder, in the order of their names; links and devices come as refused, caches not at all."""
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
                yield _refusal(here, f"lies more than {DEPTH} folders deep")
            else:
                yield from below(Path(entry.path), here)
        elif entry.is_file(follow_symlinks=False):
            status = entry.stat(follow_symlinks=False)
            yield Entry(here, status.st_size, status.st_mtime, _reader(entry.path))
        else:
            yield _refusal(here, "is no file")


def ignored(name: str) -> bool:
    """Whether a name belongs to nothing that a student wrote."""
    return name in _IGNORED or name.startswith("._")


def _reader(path: str) -> Callable[[int], bytes]:
    def read(limit: int) -> bytes:
        # Opening a pipe waits for a writer, and a link may have come since it was looked at.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(path, flags)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise RefusedError("is no file")
            return file.read(limit + 1)

    return read


def _refusal(parts: Parts, reason: str) -> Entry:
    return Entry(parts, 0, 0.0, lambda _: b"", reason)


def opened(entry: Entry, depth: int = 1) -> list[Entry]:
    """The files in a zip, and in the zips in it; a zip that cannot be used is one refused entry.

    Args:
        entry: the zip.
        depth: how many zips it lies in, itself counted.
    """
    if depth > NESTED:
        return [_refusal(entry.parts, "is a zip in a zip in a zip: hand in the notebook itself")]
    try:
        inside = in_zip(io.BytesIO(entry.read(ARCHIVE)), entry.parts, FILES)
    except RefusedError as refused:
        return [_refusal(entry.parts, str(refused))]
    return [file for member in inside for file in (opened(member, depth + 1) if is_zip(member) else [member])]


def is_zip(entry: Entry) -> bool:
    """Whether a file is to be looked into."""
    return entry.name.lower().endswith(".zip") and not entry.refused


def in_zip(source: Path | io.BytesIO, parts: Parts = (), most: int = CLASS_FILES) -> list[Entry]:
    """The files in a zip, unread, in the order of their names; what may not be read among them is refused.

    Raises:
        RefusedError: it is damaged, or holds more files or bytes than homework can have.
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
    """The bytes as a file that has no name, and is gone when it is closed."""
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
        # Under the name of the zip: whose it is must not depend on what it claims.
        return _refusal((*parts, row["names"][-1]), LEADS_OUT)

    def read(limit: int) -> bytes:
        match sandbox.for_reading().read_member(archive.fileno(), row["place"], limit).data:
            case {"problem": str(why)}:
                raise RefusedError(why)
            case {"data": str(told)}:
                return base64.b64decode(told)
            case _:
                raise RefusedError(_DAMAGED)

    return Entry((*parts, *row["names"]), row["size"], row["time"], read, row["refused"])
