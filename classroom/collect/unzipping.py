"""Read a student's zip. Any byte may be malicious, so this runs in the sandbox."""

from __future__ import annotations

import base64
import calendar
import os
import re
import stat
import zipfile
from typing import Any

JSON = Any
# Limits on a student's zip: unpacked size, and compression ratio unless the unpacked size is small.
_UNPACKED, _RATIO, _SMALL = 100 << 20, 100, 10 << 20
_ENTRY_MARK = b"PK\x01\x02"
_CHUNK = 1 << 20
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
LEADS_OUT = "has a path that leads out of its zip"


def listed(file: int, most: int, bounded: bool) -> JSON:
    """List the files in a zip.

    Args:
        most: the largest number of files.
        bounded: whether to apply the size limits of one student's homework.

    Returns:
        ``{"problem": why}``, a text for the student that follows the zip's name, or
        ``{"files": [{"place", "names", "size", "time", "refused"}]}``: the index in the zip, the parts of the path, the
        size in bytes, when it was saved (in seconds; 0 if unknown), and why it must not be read.
    """
    # Checked before Python creates an object for each entry.
    if _marks(file) > most:
        return {"problem": f"holds more than {most} files"}
    try:
        with _opened(file) as archive:
            infos = [(place, info) for place, info in enumerate(archive.infolist()) if not info.is_dir()]
    except Exception as error:
        # A damaged zip can make its reader raise almost any exception.
        return {"problem": f"is a damaged zip ({_one_line(error)})"}
    size, packed = (sum(getattr(info, key) for _, info in infos) for key in ("file_size", "compress_size"))
    if bounded and (size > _UNPACKED or (size > _SMALL and size > _RATIO * packed)):
        return {"problem": f"would unpack to {size / 2**20:.0f} MB: hand in the notebook alone"}
    return {"files": [_file(place, info) for place, info in infos]}


def member(file: int, place: int, limit: int) -> JSON:
    """Read one file from a zip.

    Args:
        place: the index that :func:`listed` returns.
        limit: at most one byte more is unpacked.

    Returns:
        ``{"problem": why}``, or ``{"data": its bytes in base64}``.
    """
    try:
        with _opened(file) as archive, archive.open(archive.infolist()[place]) as inside:
            return {"data": base64.b64encode(inside.read(limit + 1)).decode()}
    except Exception as error:
        return {"problem": f"cannot be read ({_one_line(error)})"}


def _opened(file: int) -> zipfile.ZipFile:
    return zipfile.ZipFile(os.fdopen(os.dup(file), "rb"))


def _marks(file: int) -> int:
    """Count entry marks in a zip; it has at most that many entries."""
    count, at, last = 0, 0, b""
    while chunk := os.pread(file, _CHUNK, at):
        count += (last + chunk).count(_ENTRY_MARK)
        at, last = at + len(chunk), chunk[-len(_ENTRY_MARK) + 1 :]
    return count


def _one_line(error: BaseException) -> str:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(reason).split())[:120]


def _file(place: int, info: zipfile.ZipInfo) -> JSON:
    names = [name for name in re.split(r"[/\\]+", info.filename) if name not in ("", ".")]
    return {
        "place": place,
        "names": names or ["?"],
        "size": info.file_size,
        "time": _moment(info),
        "refused": _why_not(info, names),
    }


def _why_not(info: zipfile.ZipInfo, names: list[str]) -> str:
    if re.match(r"[/\\]|[A-Za-z]:", info.filename) or ".." in names or not names:
        return LEADS_OUT
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        return "is a link or a device in a zip: hand in the file itself"
    if info.flag_bits & 1:
        return "is protected by a password"
    if info.compress_type not in _METHODS:
        return "uses an unsupported compression: zip it again, or hand in the notebook itself"
    return ""


def _moment(info: zipfile.ZipInfo) -> float:
    try:
        return float(calendar.timegm((*info.date_time, 0, 0, 0)))
    except (ValueError, OverflowError):
        return 0.0
