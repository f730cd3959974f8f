"""Make untrusted text printable, and word the results for all reports."""

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
# In the order of the bars' segments.
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
    """Fit text on one printable line of at most ``limit`` characters.

    Like :func:`classroom.collect.names.shown`, but with few accents per letter, since many would cover other lines.
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
    """Make several lines printable; only for the teacher, since the text may be long."""
    lines = text.replace("\t", "    ").split("\n")
    indents = (len(line) - len(line.lstrip(" ")) for line in lines)
    return "\n".join(" " * min(indent, 80) + shown(line, 300) for indent, line in zip(indents, lines, strict=True))


def readable(mark: Mark) -> Mark:
    """The mark with printable text; :mod:`classroom.reports.figures` cleans its graph."""
    texts = {name: shown(getattr(mark, name), limit) for name, limit in _LIMITS.items()}
    unproven = tuple(shown(claim, 200) for claim in mark.unproven[:20])
    return dataclasses.replace(mark, **{**texts, "student": texts["student"] or mark.key, "unproven": unproven})


def marked_up(text: str) -> Markup:
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return escape(text)
    return NOTHING.join(
        Markup("<code>{}</code>").format(piece) if i % 2 else escape(piece) for i, piece in enumerate(pieces)
    )


def number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if math.isfinite(value) else "0"


def count(many: int, thing: str) -> str:
    return f"{many} {thing}" if many == 1 else f"{many} {thing}s"


def percent(part: float, whole: float) -> str:
    """``38 %``; of nothing, ``0 %``."""
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


def property_name(rule: str) -> str:
    return rule.replace("_", " ").strip()


def found_name(mark: Mark) -> str:
    return (re.findall(r"`([^`]+)`", mark.remark) or [mark.remark])[0]


def verdict(status: Status, hidden: bool) -> str:
    """The result of an exercise for the student; ``hidden``: the assignment has hidden variants."""
    return {
        "passed": "Public checks passed; no hidden variant fails" if hidden else "Public checks passed",
        "public": "Public checks passed; a hidden variant fails",
        "failed": "Not yet",
        "missing": "Nothing handed in",
        "unreadable": "Cannot be read",
        "error": "Not graded yet",
    }[status]


def message(mark: Mark) -> str:
    """The student's message beside the verdict; always the same for a hidden variant."""
    match mark.status:
        case "passed":
            return ""
        case "public":
            return UNSEEN
        case "missing":
            return mark.message or "No answer to this exercise was found in what you handed in."
        case "unreadable":
            return mark.message or "The file for this exercise cannot be read."
        case "error":
            return "The grader itself failed here, which costs you nothing: it will be graded again."
    return mark.message or "A public check fails."


def link(book: str, read: str) -> str:
    """The address of ``"chapter#anchor"`` in the rendered book, or ``""``."""
    chapter, _, anchor = read.partition("#")
    if not book or not re.fullmatch(r"\w+", chapter):
        return ""
    # Sphinx makes ids from headings, unlike notebooks; `place` returns the heading.
    heading = place(read).partition("section “")[2].removesuffix("”")
    identity = re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-") if anchor else ""
    return f"{book.rstrip('/')}/chapters/{chapter}.html" + (f"#{identity}" if identity else "")


def checked_address(book: str) -> str:
    """Check the address of the book.

    Raises:
        ValueError: a page must not link to this address.
    """
    if book and not _SAFE_LINK.match(book):
        raise ValueError(f"{book!r} is not an address: give https://… or a folder such as ../book.")
    return book
