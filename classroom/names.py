"""What the names of files and folders tell: the student, the chapter, the version. They are text of strangers.

Learning management systems name what they collect in their own ways, which stand here:

| where it comes from | what it looks like |
|---|---|
| Moodle, in folders | ``Surname Name_12345_assignsubmission_file_/anything.ipynb`` |
| Moodle, one folder | ``Surname Name_12345_assignsubmission_file_anything.ipynb`` |
| Canvas | ``surnamename_LATE_123_456_anything-2.ipynb`` (``-2``: handed in for the third time) |
| Gradescope | ``submission_123/anything.ipynb``, with the names in ``submission_metadata.yml`` |
| nbgrader | ``submitted/STUDENT/ASSIGNMENT/anything.ipynb`` |
| by hand | ``STUDENT/anything.ipynb``, ``STUDENT 02_insertion_points.ipynb``, ``STUDENT.ipynb`` |
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping

_MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_[a-z]+(?:_(?P<rest>.*))?", re.DOTALL)
_CANVAS = re.compile(
    r"(?P<name>.+?)_(?:late_)?(?P<id>[1-9]\d*)_(?P<file>[1-9]\d*)_(?P<rest>.+)", re.DOTALL | re.IGNORECASE
)
_GRADESCOPE = re.compile(r"submission_(?P<id>\d+)")
# The suffix that a file keeps when a browser or a mail program adds its own.
_SUFFIX = re.compile(r"\.(ipynb|py|zip)(?:\.(?:txt|json))?$", re.IGNORECASE)
_VERSION = re.compile(
    r"(?:[ _-]*\((?P<bracket>\d{1,4})\)|-(?P<dash>\d{1,4})|[ _-]v(?:ersion)?[ _.-]?(?P<v>\d{1,4})"
    r"|[ _-]+copy(?:[ _-]?(?P<copy>\d{1,4}))?)$",
    re.IGNORECASE,
)
_TRY = re.compile(r"(?:attempt|submission|try|version)[ _-]?(\d{1,6})", re.IGNORECASE)
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)")
_MOST_KEY = 48


@dataclasses.dataclass(frozen=True)
class Owner:
    """Who handed a file in: the name as it stands there, and the number that the system knows the student by."""

    name: str
    number: str = ""


def owner(top: str, folder: bool) -> tuple[Owner, str] | None:
    """Whose a file or folder is, by the name that a learning system gave it, and the name without what it added.

    ``None`` where no system named it.
    """
    for pattern in (_MOODLE, _GRADESCOPE) if folder else (_MOODLE, _CANVAS):
        if found := pattern.fullmatch(top):
            told = found.groupdict()
            return Owner(_composed(told.get("name") or top), told["id"]), told.get("rest") or ""
    return None


def by_hand(top: str, folder: bool, chapters: Iterable[str]) -> Owner:
    """Whose a file or folder is that a person named: of a file what is left without its chapter and version."""
    if folder:
        return Owner(_composed(top))
    stem = without_version(_SUFFIX.sub("", top))
    for chapter in chapters:
        stem = re.sub(rf"[ _-]*{re.escape(chapter)}[ _-]*", " ", stem, flags=re.IGNORECASE)
    return Owner(_composed(stem) or _composed(top))


def _composed(name: str) -> str:
    """One spelling of a name, however its accents and spaces are written."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def suffix(name: str) -> str:
    """``"ipynb"``, ``"py"``, ``"zip"``; ``""`` for other files."""
    found = _SUFFIX.search(name)
    return found[1].lower() if found else ""


def without_version(stem: str) -> str:
    """The name without the number of its version or copy."""
    return _VERSION.sub("", stem)


def version(parts: tuple[str, ...]) -> tuple[int, int]:
    """The number of the try that the folders tell, 0 where none does, and of the version that the file's name tells.

    The first version has no number: ``x-1.ipynb``, ``x (1).ipynb`` and ``x v2.ipynb`` are the second of ``x.ipynb``.
    """
    tries = [int(found[1]) for part in parts[:-1] if (found := _TRY.fullmatch(part))]
    found = _VERSION.search(_SUFFIX.sub("", parts[-1]))
    number = 1
    if found:
        number = int(found["v"]) if found["v"] else 1 + int(found["bracket"] or found["dash"] or found["copy"] or 1)
    return tries[-1] if tries else 0, number


def chapter(name: str, chapters: Iterable[str]) -> str:
    """The chapter that a name of a file tells, in full or without its number; ``""`` where none, or several."""
    words = plain(name)
    for number in (True, False):
        found = [one for one in chapters if f"_{one if number else one.partition('_')[2]}_" in f"_{words}_"]
        if found:
            return found[0] if len(found) == 1 else ""
    return ""


def plain(name: str) -> str:
    """The name of a file in small letters and without its suffix, words and numbers set apart by ``_``."""
    return re.sub(r"[^a-z0-9]+", "_", _SUFFIX.sub("", name).lower()).strip("_")


def shown(text: str, most: int = 120) -> str:
    """A text on one line that any program can write: no control characters, nothing that turns the line round."""
    kept = "".join(char if char.isprintable() or char in "\u200c\u200d" else " " for char in text[: 4 * most])
    line = " ".join(kept.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def keys(owners: Iterable[Owner]) -> Mapping[Owner, str]:
    """A key for each student: unique in the class, and safe to be the name of a folder on any system.

    It is the name in plain letters and the system's number. Where two would be the same, or nothing is left of a name,
    a part of the digest of the name makes the difference.
    """
    told = {one: _plain_key(one) for one in owners}
    counts: dict[str, int] = {}
    for key in told.values():
        counts[key] = counts.get(key, 0) + 1
    return {one: key if counts[key] == 1 and _safe(key, one) else _distinct(key, one) for one, key in told.items()}


def _plain_key(one: Owner) -> str:
    letters = unicodedata.normalize("NFKD", one.name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", letters).strip("-")
    return "-".join(filter(None, [slug[:_MOST_KEY].strip("-"), one.number[:20]]))


def _safe(key: str, one: Owner) -> bool:
    """Whether the key stands for the name by itself."""
    lost = sum(char.isalnum() and not unicodedata.normalize("NFKD", char)[0].isascii() for char in one.name)
    return bool(key) and len(one.name) <= _MOST_KEY and not _RESERVED.fullmatch(key) and (bool(one.number) or not lost)


def _distinct(key: str, one: Owner) -> str:
    told = f"{one.name}\0{one.number}".encode("utf-8", "surrogateescape")
    return "-".join(filter(None, [key, hashlib.sha256(told).hexdigest()[:8]]))
