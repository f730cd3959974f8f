"""Find the exercises in a file by searching its text, because untrusted content is not parsed outside the sandbox."""

from __future__ import annotations

import functools
import re

from fxbook.grading import catalogue


def exercise_counts(data: bytes) -> dict[str, int]:
    """Count a file's exercises by chapter.

    The exercises are those in calls to ``check`` and ``hint`` or, without such calls, those whose answers are defined.

    Args:
        data: a notebook or script in UTF-8 or UTF-16, possibly damaged.
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
    # In JSON, a backslash precedes a quote, and a line break is written as \n.
    return (
        re.compile(rf"(?:check|hint)\(\s*\\?[\"']({ids})\\?[\"']"),
        re.compile(rf"(?:\b|\\n)(?:def|class) +({answers})\b"),
    )


@functools.cache
def chapters() -> tuple[str, ...]:
    return tuple(dict.fromkeys(about.chapter for about in catalogue().values()))
