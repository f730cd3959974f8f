"""Make text that nobody has looked at fit to be shown, and say what came of an exercise: the words of all reports."""

from __future__ import annotations

import dataclasses
import math
import re
import unicodedata

from markupsafe import Markup, escape

from classroom.collect import names
from classroom.grade.records import UNSEEN, Mark, Status
from fxbook.grading import place

NOTHING = Markup("")
SIGNS: dict[Status, str] = {
    "passed": "✓",
    "public": "◐",
    "failed": "✗",
    "missing": "\N{EN DASH}",
    "unreadable": "?",
    "error": "…",
}
# In the order in which bars stack them.
SHORT: dict[Status, str] = {
    "passed": "passed",
    "public": "public checks only",
    "failed": "not yet",
    "missing": "nothing handed in",
    "unreadable": "cannot be read",
    "error": "not graded yet",
}
_MOST_ACCENTS = 4
_LIMITS = {
    "student": 120,
    "message": 600,
    "for_teacher": 600,
    "remark": 600,
    "rule": 80,
    "node": 80,
    "line": 300,
    "read": 200,
    "version": 300,
    "late_note": 300,
}
_SAFE_LINK = re.compile(r"(https?://|file://|/|\./|\.\./)", re.IGNORECASE)


def shown(text: object, limit: int) -> str:
    """The text on one line of at most ``limit`` characters that a page, a file and a terminal can show as they are.

    It is :func:`classroom.collect.names.shown`, with a few accents on a letter at most: piled up they would cover other
    lines.
    """
    line = names.shown(str(text), limit)
    if line.isascii():
        return line
    chars: list[str] = []
    accents = 0
    for char in line:
        accents = accents + 1 if unicodedata.combining(char) else 0
        chars += [char] if accents <= _MOST_ACCENTS else []
    return "".join(chars)


def listing(text: str) -> str:
    """The text on its lines, fit to be shown; for the teacher alone, since a page can be long."""
    lines = text.replace("\t", "    ").split("\n")
    indents = (len(line) - len(line.lstrip(" ")) for line in lines)
    return "\n".join(" " * min(indent, 80) + shown(line, 300) for indent, line in zip(indents, lines, strict=True))


def readable(mark: Mark) -> Mark:
    """The mark with every text in it :func:`shown`; its graph is left to :mod:`classroom.reports.figures`."""
    texts = {name: shown(getattr(mark, name), limit) for name, limit in _LIMITS.items()}
    unproven = tuple(shown(claim, 200) for claim in mark.unproven[:20])
    return dataclasses.replace(mark, **{**texts, "student": texts["student"] or mark.key, "unproven": unproven})


def marked_up(text: str) -> Markup:
    """Escaped, with `…` as code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return escape(text)
    return NOTHING.join(
        Markup("<code>{}</code>").format(piece) if i % 2 else escape(piece) for i, piece in enumerate(pieces)
    )


def number(value: float) -> str:
    """``2``, ``0.5``, ``0.33``."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if math.isfinite(value) else "0"


def count(many: int, thing: str) -> str:
    """``1 student``, ``2 students``."""
    return f"{many} {thing}" if many == 1 else f"{many} {thing}s"


def percent(part: float, whole: float) -> str:
    """``38 %``; of nothing, ``0 %``."""
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


def property_name(rule: str) -> str:
    """The property as people say it: ``no dead nodes``."""
    return rule.replace("_", " ").strip()


def found_name(mark: Mark) -> str:
    """The name under which an answer was found."""
    return (re.findall(r"`([^`]+)`", mark.remark) or [mark.remark])[0]


def verdict(status: Status, hidden: bool) -> str:
    """What came of an exercise, for the student; ``hidden``: the assignment has hidden variants."""
    return {
        "passed": "Public checks passed; no hidden variant fails" if hidden else "Public checks passed",
        "public": "Public checks passed; a hidden variant does not hold",
        "failed": "Not yet",
        "missing": "Nothing handed in",
        "unreadable": "Cannot be read",
        "error": "Not graded yet",
    }[status]


def message(mark: Mark) -> str:
    """What the student is told beside the verdict; of a hidden variant always the same."""
    match mark.status:
        case "passed":
            return ""
        case "public":
            return UNSEEN
        case "missing":
            return mark.message or "No answer to this exercise was found in what you handed in."
        case "unreadable":
            return mark.message or "What you handed in for it cannot be read."
        case "error":
            return "The grader itself failed here, which costs you nothing: it will be graded again."
    return mark.message or "A public check does not hold."


def link(book: str, read: str) -> str:
    """The address in the rendered book of ``"chapter#anchor"``, ``""`` where there is none to give."""
    chapter, _, anchor = read.partition("#")
    if not book or not re.fullmatch(r"\w+", chapter):
        return ""
    # Sphinx makes the ids of its pages from the headings, not as notebooks do; `place` says the heading.
    heading = place(read).partition("section “")[2].removesuffix("”")
    identity = re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-") if anchor else ""
    return f"{book.rstrip('/')}/chapters/{chapter}.html" + (f"#{identity}" if identity else "")


def checked_address(book: str) -> str:
    """The address of the book, or ``""``.

    Raises:
        ValueError: it is no address that a page may link to.
    """
    if book and not _SAFE_LINK.match(book):
        raise ValueError(f"{book!r} is no address of the book: give https://… or a folder as ../book.")
    return book
