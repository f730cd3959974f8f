"""An assignment: its exercises, their points, and the teacher's hidden variants.

The teacher writes it once as a small TOML file, and every command reads it::

    title = "Week 2"
    chapters = [2, 3]                  # by number or by name; all their exercises
    leave_out = ["03-every-relu"]      # except these
    # exercises = ["02-put-in-order"]  # or only these
    hidden = "hidden.py"               # beside this file; see `Assignment.hidden`
    public_share = 0.5                 # of the points, if only the public checks pass
    counts = "last begun"              # which version counts; or "best", or "last"
    due = 2026-11-20T23:59:00

    [points]                           # default: the difficulty, 1 to 3
    "02-put-in-order" = 4

    [late]                             # see `classroom.collect.lateness`
    per_day = 0.1

    [extensions]                       # by name or number: days, or another date
    "Anna Müller" = 3
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from classroom.collect.lateness import Deadline, LateError, deadline
from fxbook.grading import About, catalogue, numbered, unknown

Counts = Literal["last begun", "best", "last"]
"""Which version counts: the last in which the exercise was begun, the one with the most points, or the last."""


class AssignmentError(Exception):
    """An unusable assignment; the message says what to change."""


@dataclasses.dataclass(frozen=True)
class Assignment:
    """A checked assignment: every chapter and exercise in it is in the book.

    Args:
        public_share: the share of the points, 0 to 1, if the public checks pass and a hidden variant fails.
        hidden: the text of the teacher's file of hidden variants, or ``""``: Python that defines ``SEEDS`` (the
            seeds to try each exercise on, or how many more) and ``CASES`` (more :class:`fxbook.cases.Case` objects
            by exercise id).
    """

    title: str
    exercises: tuple[About, ...]
    points: Mapping[str, float]
    public_share: float = 0.5
    hidden: str = ""
    counts: Counts = "last begun"
    deadline: Deadline = dataclasses.field(default_factory=Deadline)

    @property
    def chapters(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(about.chapter for about in self.exercises))

    @property
    def digest(self) -> str:
        """A digest that decides what is graded again. It leaves out due dates: lateness belongs to the submission."""
        worth = sorted(self.points.items())
        text = repr(
            (self.title, self.exercises, worth, self.public_share, self.hidden, self.counts, self.deadline.rule)
        )
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def of_chapters(chapters: list[str], title: str = "") -> Assignment:
    """The assignment of all exercises in these chapters, given by number or name, without hidden variants.

    The default title lists the numbers: ``"Chapters 08 and 09, project P1"``.

    Raises:
        AssignmentError: there is no such chapter.
    """
    assignment = _checked({"title": title, "chapters": chapters}, "")
    return assignment if title else dataclasses.replace(assignment, title=_by_numbers(assignment.chapters))


def _by_numbers(chapters: tuple[str, ...]) -> str:
    kinds: dict[str, list[str]] = {}
    for chapter in chapters:
        kind, number = numbered(chapter).split()
        kinds.setdefault(kind, []).append(number)
    title = ", ".join(f"{kind}{'s' if numbers[1:] else ''} {_in_words(numbers)}" for kind, numbers in kinds.items())
    return title[:1].upper() + title[1:]


def _in_words(items: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))


def load(path: Path) -> Assignment:
    """Load an assignment from a TOML file.

    Raises:
        AssignmentError: it cannot be read, or names something that is not in the book; the message says what to change.
    """
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise AssignmentError(f"{path}: cannot be read as an assignment ({error}).") from error
    hidden = ""
    if "hidden" in written:
        try:
            hidden = (path.parent / str(written.pop("hidden"))).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise AssignmentError(f"{path}: the file of hidden variants cannot be read ({error}).") from error
    try:
        return _checked({"title": path.stem, **written}, hidden)
    except AssignmentError as problem:
        raise AssignmentError(f"{path}: {problem}") from None


_KEYS: Mapping[str, Any] = {
    "title": str,
    "chapters": list,
    "exercises": list,
    "leave_out": list,
    "points": dict,
    "public_share": (int, float),
    "counts": str,
    "due": object,
    "time_zone": str,
    "late": dict,
    "extensions": dict,
}


def _checked(written: dict[str, Any], hidden: str) -> Assignment:
    for key, value in written.items():
        if key not in _KEYS:
            raise AssignmentError(f"{key!r} is not a known key; give one of {', '.join(sorted((*_KEYS, 'hidden')))}.")
        if not isinstance(value, _KEYS[key]) or isinstance(value, bool):
            raise AssignmentError(f"{key} = {value!r} has the wrong type; see the example in the guide.")
    exercises = _exercises(written, catalogue())
    share = float(written.get("public_share", 0.5))
    if not 0 <= share <= 1:
        raise AssignmentError(f"public_share = {share}: give a number from 0 to 1.")
    counts = written.get("counts", "last begun")
    if counts not in get_args(Counts):
        known = ", ".join(f'"{choice}"' for choice in get_args(Counts))
        raise AssignmentError(f'counts = "{counts}" is not known: give one of {known}.')
    try:
        when = deadline(written)
    except LateError as problem:
        raise AssignmentError(str(problem)) from None
    return Assignment(written["title"], exercises, _points(written, exercises), share, hidden, counts, when)


def _exercises(written: Mapping[str, Any], book: Mapping[str, About]) -> tuple[About, ...]:
    chosen = [_chapter(str(chapter), book) for chapter in written.get("chapters", [])]
    listed, left_out = written.get("exercises", []), written.get("leave_out", [])
    named = [str(name) for name in (*listed, *left_out, *written.get("points", {}))]
    if wrong := next((name for name in named if name not in book), None):
        if wrong in _KEYS:
            raise AssignmentError(
                f"{wrong} is below [points], so TOML reads it as part of that table: move it above the first [table]."
            )
        raise AssignmentError(unknown(wrong, list(book)))
    if "exercises" in written:
        return _listed(listed, left_out, chosen, book)
    if not chosen:
        raise AssignmentError('give its exercises: chapters = [2, 3], or exercises = ["02-put-in-order"].')
    return tuple(about for about in book.values() if about.chapter in chosen and about.id not in left_out)


def _listed(
    listed: list[str], left_out: list[str], chapters: list[str], book: Mapping[str, About]
) -> tuple[About, ...]:
    if not listed:
        raise AssignmentError("exercises = [] is empty: list some, or remove it and give chapters.")
    if left_out:
        raise AssignmentError("exercises and leave_out exclude each other: keep one of them.")
    if chapters:
        if outside := next((name for name in listed if book[name].chapter not in chapters), None):
            raise AssignmentError(
                f"exercises lists {outside}, but chapters lacks {book[outside].chapter}: add it there, or "
                "remove chapters."
            )
        if bare := next(
            (chapter for chapter in chapters if all(book[name].chapter != chapter for name in listed)), None
        ):
            raise AssignmentError(
                f"chapters lists {bare}, but exercises lists none of its exercises: add some, or remove chapters."
            )
    return tuple(about for about in book.values() if about.id in listed)


def _points(written: Mapping[str, Any], exercises: tuple[About, ...]) -> dict[str, float]:
    points = {about.id: float(about.difficulty or 1) for about in exercises}
    for name, worth in written.get("points", {}).items():
        if isinstance(worth, bool) or not isinstance(worth, int | float) or not 0 <= worth < math.inf:
            raise AssignmentError(f"[points] {name} = {worth!r}: give a number that is not negative.")
        if name in points:
            points[name] = float(worth)
    return points


def _chapter(name: str, book: Mapping[str, About]) -> str:
    chapters = dict.fromkeys(about.chapter for about in book.values())
    number = name.zfill(2) if name.isascii() and name.isdigit() else name
    matches = [chapter for chapter in chapters if number in (chapter, chapter.partition("_")[0])]
    if not matches:
        raise AssignmentError(f"there is no chapter {name!r} with exercises; there are {', '.join(chapters)}.")
    return matches[0]
