"""Which exercises of the book a file holds, told from its text as it stands: nothing of a stranger's is parsed here."""

from __future__ import annotations

import functools
import re

from fxbook.grading import catalogue


def exercise_counts(data: bytes) -> dict[str, int]:
    """Of each chapter how many of its exercises are in a file.

    They are told by its calls of ``check`` and ``hint``; where there are none, by the answers that it defines.

    Args:
        data: a notebook or a script, UTF-8 or UTF-16; damaged ones too.
    """
    checks, answers = _patterns()
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace")
    book = catalogue()
    by_answer = {about.answer: about for about in book.values()}
    ids = {match[1] for match in checks.finditer(text)}
    exercises = [book[name] for name in ids] or [by_answer[name] for name in {m[1] for m in answers.finditer(text)}]
    counts: dict[str, int] = {}
    for about in exercises:
        counts[about.chapter] = counts.get(about.chapter, 0) + 1
    return counts


@functools.cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    ids = "|".join(map(re.escape, catalogue()))
    answers = "|".join(re.escape(about.answer) for about in catalogue().values())
    # In JSON a quote stands behind a backslash, and a new line is a backslash and an n.
    return (
        re.compile(rf"(?:check|hint)\(\s*\\?[\"']({ids})\\?[\"']"),
        re.compile(rf"(?:\b|\\n)(?:def|class) +({answers})\b"),
    )


@functools.cache
def chapters() -> tuple[str, ...]:
    """All chapters of the book that have exercises."""
    return tuple(dict.fromkeys(about.chapter for about in catalogue().values()))
