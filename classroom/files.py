"""The files of a folder or of a zip, without trust: nothing is followed, unpacked to disk or read beyond its limits.

A zip among the files is a folder to whoever reads this: ``("anna", "homework.zip", "02.ipynb")``. What may not be read
says why in ``refused``; nothing here raises for what students hand in.
"""

from __future__ import annotations

import calendar
import dataclasses
import io
import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

# Of one file that is read, of one zip, and of everything in one zip.
FILE, ARCHIVE, UNPACKED = 10 << 20, 50 << 20, 100 << 20
# Of the files of one student, or in one zip; of a zip of the whole class.
FILES, CLASS_FILES = 2000, 100_000
DEPTH, NESTED = 12, 2
# A zip that grows so many times is no homework, unless it is small.
_RATIO, _SMALL = 100, 10 << 20
# What systems and tools leave behind, and the library that comes with the exercises.
_IGNORED = {".DS_Store", ".git", ".ipynb_checkpoints", ".venv", "__MACOSX", "__pycache__", "fxbook", "venv"}
_ENTRY_MARK = b"PK\x01\x02"
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
LEADS_OUT = "has a path that leads out of its zip"
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
        found = sorted(os.scandir(folder), key=lambda one: one.name)
    except OSError as error:
        yield _refusal(parts or (folder.name,), f"cannot be opened ({_one_line(error)})")
        return
    for one in found:
        here = (*parts, one.name)
        if ignored(one.name):
            continue
        if one.is_symlink():
            yield _refusal(here, "is a link, and links are not followed: hand in the file itself")
        elif one.is_dir(follow_symlinks=False):
            if len(here) > DEPTH:
                yield _refusal(here, f"lies more than {DEPTH} folders deep")
            else:
                yield from below(Path(one.path), here)
        elif one.is_file(follow_symlinks=False):
            status = one.stat(follow_symlinks=False)
            yield Entry(here, status.st_size, status.st_mtime, _reader(one.path))
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
        data = entry.read(ARCHIVE)
        # Before Python makes an object of each.
        if data.count(_ENTRY_MARK) > CLASS_FILES:
            raise RefusedError(f"holds more than {FILES} files")
        inside = in_zip(io.BytesIO(data), entry.parts, FILES)
    except RefusedError as refused:
        return [_refusal(entry.parts, str(refused))]
    return [file for one in inside for file in (opened(one, depth + 1) if is_zip(one) else [one])]


def is_zip(entry: Entry) -> bool:
    """Whether a file is to be looked into."""
    return entry.name.lower().endswith(".zip") and not entry.refused


def in_zip(source: Path | io.BytesIO, parts: Parts = (), most: int = CLASS_FILES) -> list[Entry]:
    """The files in a zip, unread, in the order of their names; what may not be read among them is refused.

    Raises:
        RefusedError: it is damaged, or holds more files or bytes than homework can have.
    """
    try:
        archive = zipfile.ZipFile(source)
        infos = [info for info in archive.infolist() if not (info.is_dir() or any(map(ignored, _names(info))))]
    except Exception as error:
        raise RefusedError(f"is a damaged zip ({_one_line(error)})") from error
    if len(infos) > most:
        raise RefusedError(f"holds more than {most} files")
    size, packed = sum(info.file_size for info in infos), sum(info.compress_size for info in infos)
    if most == FILES and (size > UNPACKED or (size > _SMALL and size > _RATIO * packed)):
        raise RefusedError(f"would unpack to {size / 2**20:.0f} MB: hand in the notebook alone")
    return sorted((_entry(archive, info, parts) for info in infos), key=lambda one: one.parts)


def _names(info: zipfile.ZipInfo) -> list[str]:
    return [name for name in re.split(r"[/\\]+", info.filename) if name not in ("", ".")]


def _entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, parts: Parts) -> Entry:
    names = _names(info)
    kind = stat.S_IFMT(info.external_attr >> 16)
    if re.match(r"[/\\]|[A-Za-z]:", info.filename) or ".." in names or not names:
        # Under the name of the zip: whose it is must not depend on what it claims.
        return _refusal((*parts, names[-1] if names else "?"), LEADS_OUT)
    here = (*parts, *names)
    if kind not in (0, stat.S_IFREG):
        return _refusal(here, "is a link or a device in a zip: hand in the file itself")
    if info.flag_bits & 1:
        return _refusal(here, "is protected by a password")
    if info.compress_type not in _METHODS:
        return _refusal(here, "is packed in a way that is not read here: zip it again, or hand in the notebook itself")

    def read(limit: int) -> bytes:
        with archive.open(info) as file:
            return file.read(limit + 1)

    return Entry(here, info.file_size, _moment(info), read)


def _moment(info: zipfile.ZipInfo) -> float:
    try:
        return float(calendar.timegm((*info.date_time, 0, 0, 0)))
    except (ValueError, OverflowError):
        return 0.0
