"""What an assignment asks: its chapters, what each exercise is worth, and the teacher's hidden variants.

It is a small TOML file that the teacher writes once and every command takes::

    title = "Week 2"
    chapters = ["02", "03"]            # by number or by name; all their exercises
    leave_out = ["02-from-scratch"]    # but these
    hidden = "hidden.py"               # beside this file; see `Hidden`
    public_share = 0.5                 # of the points, where only the public checks pass

    [points]                           # default: the difficulty, 1 to 3
    "03-swap-relu" = 4
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fxbook.exercises import About, catalogue, unknown


class AssignmentError(Exception):
    """An assignment that cannot be used; the message says what to change."""


@dataclasses.dataclass(frozen=True)
class Assignment:
    """An assignment, checked: every chapter and exercise in it is in the book.

    Args:
        title: as reports and the handout print it.
        exercises: what is asked, in the order of the book.
        points: what each is worth, by id.
        public_share: of the points, where the public checks pass and a hidden variant does not; 0 to 1.
        hidden: the text of the teacher's file of hidden variants, ``""`` where there is none. It is Python that holds
            ``SEEDS``, how many more seeds each exercise is tried on, or the seeds themselves, and ``CASES``, of an
            exercise id the :class:`fxbook.checks.Case` objects to try it on besides the public ones.
    """

    title: str
    exercises: tuple[About, ...]
    points: Mapping[str, float]
    public_share: float = 0.5
    hidden: str = ""

    @property
    def chapters(self) -> tuple[str, ...]:
        """Its chapters: ``("02_insertion_points", …)``."""
        return tuple(dict.fromkeys(about.chapter for about in self.exercises))

    @property
    def digest(self) -> str:
        """Differs wherever two assignments do: what was graded under another digest is graded again."""
        told = repr((self.title, self.exercises, sorted(self.points.items()), self.public_share, self.hidden))
        return hashlib.sha256(told.encode()).hexdigest()[:16]


def of_chapters(chapters: list[str], title: str = "") -> Assignment:
    """The assignment of all exercises of these chapters, by number or by name, without hidden variants.

    Raises:
        AssignmentError: there is no such chapter.
    """
    return _checked({"title": title or f"Chapters {', '.join(chapters)}", "chapters": chapters}, "")


def load(path: Path) -> Assignment:
    """The assignment that a TOML file describes.

    Raises:
        AssignmentError: it cannot be read, or asks for what the book does not have; the message says what to change.
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


_KEYS = {"title": str, "chapters": list, "leave_out": list, "points": dict, "public_share": (int, float)}


def _checked(written: dict[str, Any], hidden: str) -> Assignment:
    for key, value in written.items():
        if key not in _KEYS:
            raise AssignmentError(f"{key!r} means nothing here; known are {', '.join(sorted((*_KEYS, 'hidden')))}.")
        if not isinstance(value, _KEYS[key]) or isinstance(value, bool):
            raise AssignmentError(f"{key} = {value!r} is not of the right type; see the example in the guide.")
    book = catalogue()
    chosen = [_chapter(str(chapter), book) for chapter in written.get("chapters", [])]
    if not chosen:
        raise AssignmentError('say which chapters it asks for: chapters = ["02", "03"].')
    named = [str(name) for name in (*written.get("leave_out", []), *written.get("points", {}))]
    if wrong := next((name for name in named if name not in book), None):
        raise AssignmentError(unknown(wrong, list(book)))
    left = tuple(a for a in book.values() if a.chapter in chosen and a.id not in written.get("leave_out", []))
    points = {about.id: float(about.difficulty or 1) for about in left}
    for name, worth in written.get("points", {}).items():
        if isinstance(worth, bool) or not isinstance(worth, int | float) or not 0 <= worth < math.inf:
            raise AssignmentError(f"[points] {name} = {worth!r}: give a number that is not negative.")
        if name in points:
            points[name] = float(worth)
    share = float(written.get("public_share", 0.5))
    if not 0 <= share <= 1:
        raise AssignmentError(f"public_share = {share}: give a number from 0 to 1.")
    return Assignment(written["title"], left, points, share, hidden)


def _chapter(name: str, book: Mapping[str, About]) -> str:
    chapters = dict.fromkeys(about.chapter for about in book.values())
    found = [chapter for chapter in chapters if name in (chapter, chapter.partition("_")[0])]
    if not found:
        raise AssignmentError(f"there is no chapter {name!r} with exercises; there are {', '.join(chapters)}.")
    return found[0]
