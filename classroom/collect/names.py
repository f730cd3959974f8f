"""Read the student, chapter and version from the names of files and folders, which are untrusted text.

Learning systems use these patterns:

| source | pattern |
|---|---|
| Moodle, in folders | ``Surname Name_12345_assignsubmission_file_/anything.ipynb`` |
| Moodle, one folder | ``Surname Name_12345_assignsubmission_file_anything.ipynb`` |
| Canvas | ``surnamename_LATE_123_456_anything-2.ipynb``: student and file; later files have higher numbers |
| Blackboard | ``Week 2_username_attempt_2026-11-20-14-03-22_anything.ipynb`` |
| Gradescope | ``submission_123/anything.ipynb``, with the names in ``submission_metadata.yml`` |
| nbgrader | ``submitted/STUDENT/ASSIGNMENT/anything.ipynb`` |
| by hand | ``STUDENT/anything.ipynb``, ``STUDENT 02_insertion_points.ipynb``, ``STUDENT.ipynb`` |
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import hashlib
import itertools
import re
import unicodedata
from collections.abc import Iterable, Mapping

# The end of a folder's name comes from the learning system. The end of a file's name comes from the student, so in a
# file's name the first match counts.
_MOODLE_FOLDER = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_[a-z]+_?", re.DOTALL)
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_[a-z]+_(?P<rest>.*)", re.DOTALL)
_CANVAS = re.compile(
    r"(?P<name>.+?)_(?:(?P<late>LATE)_)?(?P<id>[1-9]\d*)_(?P<file>[1-9]\d*)_(?P<rest>.+)", re.DOTALL | re.IGNORECASE
)
_CANVAS_ANONYMOUS = re.compile(
    r"(?:(?P<late>LATE)_)?(?P<name>anon_(?P<id>[A-Za-z0-9]+))_(?P<file>[1-9]\d*)_(?P<rest>.+)", re.DOTALL
)
_BLACKBOARD = re.compile(r"(?P<name>.+?)_attempt_(?P<moment>\d{4}(?:-\d\d){5})(?:_(?P<rest>.+)|\.[^.]*)", re.DOTALL)
_GRADESCOPE = re.compile(r"submission_(?P<id>\d+)")
_FOLDERS = (("Moodle", _MOODLE_FOLDER), ("Gradescope", _GRADESCOPE))
_FILES = (("Moodle", _MOODLE), ("Canvas", _CANVAS_ANONYMOUS), ("Canvas", _CANVAS))
# The file's own suffix, possibly followed by one that a browser or mail program added.
_SUFFIX = re.compile(r"\.(ipynb|py|zip)(?:\.(?:txt|json))?$", re.IGNORECASE)
_VERSION = re.compile(
    # Longer numbers are not versions: `homework-2026`.
    r"(?:[ _-]*\((?P<bracket>\d{1,2})\)|-(?P<dash>\d{1,2})|[ _-]v(?:ersion)?[ _.-]?(?P<v>\d{1,2})"
    r"|[ _-]+copy(?:[ _-]?(?P<copy>\d{1,2}))?)$",
    re.IGNORECASE,
)
_TRY = re.compile(r"(?:attempt|submission|try|version)[ _-]?(\d{1,2})", re.IGNORECASE)
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)")
_MOST_KEY = 48


@dataclasses.dataclass(frozen=True)
class Owner:
    """The owner of a file: the name as written, and the learning system's number for the student."""

    name: str
    number: str = ""


@dataclasses.dataclass(frozen=True)
class Given:
    """The parts of the name that a learning system gave to a top-level file or folder.

    Args:
        rest: the student's own file name, or ``""`` if the system dropped it.
        order: higher for later submissions of the same student; 0 if the name has no order.
        late: whether the system marked it late; ``None`` if unknown.
        moment: the time of submission by the school's clock, without a time zone; ``None`` if unknown.
    """

    owner: Owner
    rest: str = ""
    order: int = 0
    late: bool | None = None
    moment: dt.datetime | None = None
    system: str = ""


def given(top: str, folder: bool, title: str = "") -> Given | None:
    """Parse the name of a top-level file or folder; return ``None`` if it does not come from a learning system.

    Args:
        title: the text before the user name in Blackboard's files; see :func:`blackboard_title`.
    """
    for system, pattern in _FOLDERS if folder else _FILES:
        if match := pattern.fullmatch(top):
            groups = match.groupdict()
            whose = Owner(_composed(groups.get("name") or top), groups["id"])
            order, late = (int(groups["file"]), groups["late"] == "LATE") if "file" in groups else (0, None)
            return Given(whose, groups.get("rest") or "", order, late, system=system)
    if not folder and (match := _BLACKBOARD.fullmatch(top)):
        user = match["name"].removeprefix(title) or match["name"]
        moment = _moment(match["moment"])
        order = int(match["moment"].replace("-", "")) if moment else 0
        return Given(Owner(_composed(user)), match["rest"] or "", order, None, moment, "Blackboard")
    return None


def system(top: str) -> str:
    """The learning system that gave this name, or ``""``."""
    naming = given(top, folder=True) or given(top, folder=False)
    return naming.system if naming else ""


def owner(top: str, folder: bool) -> Owner | None:
    naming = given(top, folder)
    return naming.owner if naming else None


def blackboard_title(tops: Iterable[str]) -> str:
    """The common text before the user names in Blackboard's files: the assignment's title, which may contain ``_``.

    If all user names begin with the same words before a ``_``, these words become part of the title.
    """
    titles = [match["name"].split("_")[:-1] for top in tops if (match := _BLACKBOARD.fullmatch(top))]
    same = itertools.takewhile(lambda words: len(set(words)) == 1, zip(*titles, strict=False))
    return "".join(f"{words[0]}_" for words in same)


def _moment(written: str) -> dt.datetime | None:
    try:
        return dt.datetime.strptime(written, "%Y-%m-%d-%H-%M-%S")
    except ValueError:
        return None


def by_hand(top: str, folder: bool, chapters: Iterable[str]) -> Owner:
    """The owner of a file or folder that a person named. Chapter and version are removed from a file's name."""
    if folder:
        return Owner(_composed(top))
    stem = without_version(_SUFFIX.sub("", top))
    for chapter in chapters:
        stem = re.sub(rf"[ _-]*{re.escape(chapter)}[ _-]*", " ", stem, flags=re.IGNORECASE)
    return Owner(_composed(stem) or _composed(top))


def _composed(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split())


def suffix(name: str) -> str:
    """The file's kind: ``"ipynb"``, ``"py"``, ``"zip"``, or ``""`` for others."""
    match = _SUFFIX.search(name)
    return match[1].lower() if match else ""


def without_version(stem: str) -> str:
    return _VERSION.sub("", stem)


def version(parts: tuple[str, ...]) -> tuple[int, int]:
    """The attempt number from the folders (0 if none has one) and the version number from the file's name.

    The first version has no number: ``x-1.ipynb``, ``x (1).ipynb`` and ``x v2.ipynb`` are second versions of
    ``x.ipynb``.
    """
    tries = [int(match[1]) for part in parts[:-1] if (match := _TRY.fullmatch(part))]
    match = _VERSION.search(_SUFFIX.sub("", parts[-1]))
    number = 1
    if match:
        number = int(match["v"]) if match["v"] else 1 + int(match["bracket"] or match["dash"] or match["copy"] or 1)
    return tries[-1] if tries else 0, number


def chapter(name: str, chapters: Iterable[str]) -> str:
    """The chapter in a file's name, with or without its number; ``""`` if there is none or more than one."""
    words = plain(name)
    for number in (True, False):
        matches = [
            candidate
            for candidate in chapters
            if f"_{candidate if number else candidate.partition('_')[2]}_" in f"_{words}_"
        ]
        if matches:
            return matches[0] if len(matches) == 1 else ""
    return ""


def plain(name: str) -> str:
    """The file's name in lower case, without suffix, with ``_`` between words and numbers."""
    return re.sub(r"[^a-z0-9]+", "_", _SUFFIX.sub("", name).lower()).strip("_")


def shown(text: str, most: int = 120) -> str:
    """Fit text on one printable line, without control characters or changes of writing direction."""
    printable = "".join(char if char.isprintable() or char in "\u200c\u200d" else " " for char in text[: 4 * most])
    line = " ".join(printable.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def keys(owners: Iterable[Owner]) -> Mapping[Owner, str]:
    """A key for each student that is unique in the class and a valid folder name on any system.

    It is the name in ASCII letters and the system's number. If two keys would be equal, or the name has no such
    letters, part of a digest of the name is added.
    """
    key_of = {student: _plain_key(student) for student in owners}
    counts: dict[str, int] = {}
    for key in key_of.values():
        counts[key] = counts.get(key, 0) + 1
    return {
        student: key if counts[key] == 1 and _safe(key, student) else _distinct(key, student)
        for student, key in key_of.items()
    }


def _plain_key(student: Owner) -> str:
    letters = unicodedata.normalize("NFKD", student.name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", letters).strip("-")
    return "-".join(filter(None, [slug[:_MOST_KEY].strip("-"), student.number[:20]]))


def _safe(key: str, student: Owner) -> bool:
    lost = sum(char.isalnum() and not unicodedata.normalize("NFKD", char)[0].isascii() for char in student.name)
    return (
        bool(key)
        and len(student.name) <= _MOST_KEY
        and not _RESERVED.fullmatch(key)
        and (bool(student.number) or not lost)
    )


def _distinct(key: str, student: Owner) -> str:
    identity = f"{student.name}\0{student.number}".encode("utf-8", "surrogateescape")
    return "-".join(filter(None, [key, hashlib.sha256(identity).hexdigest()[:8]]))
