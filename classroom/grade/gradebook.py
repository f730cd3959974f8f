"""Keep results in ``gradebook.jsonl``, one line per student, and derive ``grades.csv`` from it.

Each line is on disk before its student counts as done. A killed run loses only the students in progress, and an
incomplete line is skipped. If a student has several lines, the last one counts.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import functools
import hashlib
import importlib.metadata
import io
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import fxbook
from classroom.assignment import Assignment
from classroom.grade import private
from classroom.grade.records import Mark, Participant, Submission
from fxbook.grading import catalogue

JSON = Any
NAME, TABLE = "gradebook.jsonl", "grades.csv"
# The generated exercise notebooks, if this is a checkout of the book.
EXERCISES = Path(fxbook.__file__).parent.parent / "exercises"
_VERSION = 3
COLUMNS = (
    "student",
    "key",
    "exercise",
    "status",
    "points",
    "out_of",
    "attempts",
    "rule",
    "message",
    "for_teacher",
    "node",
    "read",
    "line",
    "unproven",
    "seconds",
    "version",
    "late_days",
    "penalty",
    "late_note",
)
# Characters that start a formula in spreadsheets, including full-width forms.
_FORMULA = re.compile(r"[=+\-@\uff1d\uff0b\uff0d\uff20]")
# The packages that affect marks, besides the exercises.
_GRADING = {
    "fxbook": ("cases", "checking", "graph", "learning", "observing", "rules"),
    "classroom": ("collect", "grade", "judge", "sandbox"),
}


class GradebookError(Exception):
    """An unusable gradebook; the message says what to do."""


class Gradebook:
    """The gradebook in a folder, used as a context manager by one run at a time.

    Args:
        folder: created if missing.

    Raises:
        GradebookError: it cannot be written, another run is using it, or another version wrote it.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._lines: dict[str, JSON] = {}
        self.seed = secrets.randbits(62)
        try:
            private.make_folder(folder)
            self._file = private.append_to(self.path)
        except OSError as error:
            raise GradebookError(f"{self.path} cannot be written ({error.strerror}): give another --out.") from error
        try:
            _lock(self._file, self.path)
            self._begin()
        except BaseException:
            self._file.close()
            raise

    def _begin(self) -> None:
        fresh = True
        for line in _lines(self.path):
            if "gradebook" in line:
                self.seed, fresh = line["seed"], False
            elif "marks" in line:
                self._lines[line["key"]] = line
        if fresh:
            self._add({"gradebook": _VERSION, "seed": self.seed})
        elif self._file.tell() and not self.path.read_bytes().endswith(b"\n"):
            self._file.write(b"\n")

    def __enter__(self) -> Gradebook:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def begin(self, assignment: Assignment, submissions: Sequence[Submission]) -> None:
        """Record the class and the assignment, so that :func:`last` can make reports without grading."""
        description = {
            "title": assignment.title,
            "exercises": [about.id for about in assignment.exercises],
            "points": dict(assignment.points),
            "public_share": assignment.public_share,
            # Only whether there are hidden variants: their text belongs to the teacher.
            "hidden": bool(assignment.hidden),
        }
        fields = [field.name for field in dataclasses.fields(Participant)]
        people = [{name: getattr(submission, name) for name in fields} for submission in submissions]
        self._add({"class": people, "assignment": description})

    def marks(self, key: str, digest: str) -> list[Mark] | None:
        """A student's marks, if they were graded with this digest and without a grader error."""
        line = self._lines.get(key)
        if line is None or line["digest"] != digest:
            return None
        marks = _marks(line)
        return None if marks is None or any(mark.status == "error" for mark in marks) else marks

    def keep(self, key: str, digest: str, marks: Sequence[Mark]) -> None:
        """Add a student's marks and flush them to disk.

        Raises:
            GradebookError: the disk is full or missing.
        """
        line = {"key": key, "digest": digest, "marks": [mark.to_json() for mark in marks]}
        self._add(line)
        self._lines[key] = line

    def _add(self, line: JSON) -> None:
        try:
            self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise GradebookError(
                f"{self.path} cannot be written ({error.strerror}): free some space, then run the command again."
            ) from error


def _lock(file: IO[bytes], path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows, which has no such lock.
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise GradebookError(
            f"Another run is grading into {path.parent}: wait for it, or give another --out."
        ) from None
    except OSError:
        return  # A file system without locks.


def _lines(path: Path) -> Iterator[JSON]:
    with path.open("rb") as file:
        for raw in file:
            with contextlib.suppress(ValueError, RecursionError):
                line = json.loads(raw)
                if _is_line(line):
                    yield line


def _is_line(line: JSON) -> bool:
    if not isinstance(line, dict):
        return False
    if "gradebook" in line:
        if line["gradebook"] != _VERSION:
            raise GradebookError("The gradebook is from another version of the grader: give another --out.")
        return isinstance(line.get("seed"), int)
    return isinstance(line.get("class"), list) or all(key in line for key in ("key", "digest", "marks"))


def _marks(line: JSON) -> list[Mark] | None:
    try:
        return [Mark.from_json(mark) for mark in line["marks"]]
    except (TypeError, KeyError, ValueError):
        return None


def last(folder: Path) -> tuple[Assignment, list[Mark]]:
    """The assignment of the last run into a folder, and the marks of its class so far.

    Raises:
        GradebookError: there is no gradebook, or nothing was graded.
    """
    run, lines = _last(folder)
    description = run["assignment"]
    book = catalogue()
    exercises = tuple(book[name] for name in description["exercises"] if name in book)
    hidden = "# The teacher's." if description["hidden"] else ""
    assignment = Assignment(description["title"], exercises, description["points"], description["public_share"], hidden)
    keys = [person["key"] for person in run["class"]]
    return assignment, [mark for key in keys if key in lines for mark in _marks(lines[key]) or []]


def participants(folder: Path) -> list[Participant]:
    """The class of the last run into a folder.

    Raises:
        GradebookError: there is no gradebook, or nothing was graded.
    """
    return [Participant(**person) for person in _last(folder)[0]["class"]]


def _last(folder: Path) -> tuple[JSON, dict[str, JSON]]:
    path = folder / NAME
    if not path.is_file():
        raise GradebookError(f"There is no {NAME} in {folder}: give the folder that `grade` wrote with --out.")
    run: JSON = None
    lines: dict[str, JSON] = {}
    for line in _lines(path):
        if "class" in line:
            run = line
        elif "marks" in line:
            lines[line["key"]] = line
    if run is None:
        raise GradebookError(f"Nothing was graded in {folder} yet.")
    return run, lines


def digest(submission: Submission, assignment: Assignment) -> str:
    """A digest of all that affects a student's marks: the submission, the assignment, the checks and torch."""
    sha = hashlib.sha256()
    for part in (assignment.digest, code_digest(tuple(assignment.chapters)), submission.key, submission.student):
        sha.update(part.encode() + b"\0")
    for table in (submission.names, submission.attempts, submission.problems):
        sha.update(repr(sorted(table.items())).encode() + b"\0")
    for chapter, data in sorted(submission.sheets.items()):
        sha.update(chapter.encode() + b"\0" + hashlib.sha256(data).digest())
    for chapter, versions in sorted(submission.versions.items()):
        for version in versions:
            fields = repr((chapter, dataclasses.replace(version, data=b"")))
            sha.update(fields.encode() + b"\0" + hashlib.sha256(version.data).digest())
    return sha.hexdigest()


@functools.cache
def code_digest(chapters: tuple[str, ...] = ()) -> str:
    """A digest of the grader, of torch, and of the exercises in these chapters (by default, of all)."""
    sha = hashlib.sha256(importlib.metadata.version("torch").encode())
    root = Path(fxbook.__file__).parent.parent
    folders = [root / package / room for package, rooms in _GRADING.items() for room in rooms]
    folders += [root / "fxbook" / "tasks" / chapter for chapter in chapters or ("",)]
    notebooks = [EXERCISES / f"{chapter}.ipynb" for chapter in chapters] or EXERCISES.glob("*.ipynb")
    for path in sorted([*(path for folder in folders for path in folder.rglob("*.py")), *notebooks]):
        if path.is_file():
            sha.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return sha.hexdigest()


# ---- grades.csv ------------------------------------------------------------------------------------------------------


def write_table(path: Path, marks: Iterable[Mark]) -> None:
    """Write ``grades.csv``, one row per mark, in the given order; see :func:`write_rows`."""
    write_rows(path, COLUMNS, _rows(marks))


def _rows(marks: Iterable[Mark]) -> Iterator[list[Any]]:
    first_with: dict[tuple[str, str], str] = {}
    for mark in marks:
        row: dict[str, Any] = {**mark.to_json(), "unproven": "; ".join(mark.unproven)}
        row["for_teacher"] = " ".join(filter(None, [mark.for_teacher, mark.remark]))
        if mark.status == "unreadable":
            # Report an unreadable file once, however many exercises are in it.
            first = first_with.setdefault((mark.key, mark.message), mark.exercise)
            row |= {} if first == mark.exercise else {"message": f"Same as for {first}.", "for_teacher": ""}
        yield [row[column] for column in COLUMNS]


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file atomically, readable only by its owner.

    It is UTF-8 with a byte order mark, which Excel needs for accents. Text that a spreadsheet would read as a formula
    gets a leading apostrophe.

    Raises:
        GradebookError: it cannot be written.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    try:
        private.write(path, text.getvalue().encode("utf-8-sig", "replace"))
    except OSError as error:
        raise GradebookError(f"{path} cannot be written ({error.strerror}): close it in other programs.") from error


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    line = " ".join(value.split())
    return f"'{line}" if _FORMULA.match(line) else line
