"""The questions before a sheet of exercises: multiple choice with immediate answers, without JavaScript.

``fxbook/tasks/NN_name/questions.toml`` contains:

- ``setup``: code that runs before each question and is not shown;
- ``[[question]]``: ``ask``; ``read``, the anchor of the section of the chapter that answers it; ``code``, which is
  shown and runs; ``proof``, which runs after it and is not shown;
- ``[[question.choice]]``: ``say``; ``why``, the reason in one or two sentences; ``right = true`` for one of them; and
  ``holds``, an expression that is true if the choice is right. It may call ``error(function)``, which returns the
  exception that the function raised, or ``None``.

The notebook relies on ``right``. ``tests/book/test_questions.py`` runs the code and evaluates every ``holds``.
"""

from __future__ import annotations

import dataclasses
import html
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from press.manuscript.problems import PressError, Problem

QUESTIONS = "questions.toml"
HEADING = "Before you begin"
FEWEST_CHOICES, MOST_CHOICES = 3, 4
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
_CODE = re.compile(r"`([^`]+)`")


@dataclasses.dataclass(frozen=True)
class Choice:
    """A possible answer; ``holds`` is the expression that decides whether it is right."""

    say: str
    why: str
    holds: str
    right: bool = False


@dataclasses.dataclass(frozen=True)
class Question:
    """A question; ``setup``, ``code`` and ``proof`` run in this order, and only ``code`` is shown."""

    ask: str
    read: str
    choices: tuple[Choice, ...]
    setup: str = ""
    code: str = ""
    proof: str = ""

    @property
    def place(self) -> int:
        return next(place for place, choice in enumerate(self.choices) if choice.right)


def read_questions(path: Path) -> tuple[Question, ...]:
    """The questions of a chapter; none if there is no file. Raises PressError with all faults of the file."""
    if not path.is_file():
        return ()
    text = path.read_text(encoding="utf-8")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        raise PressError(Problem(path, int(line[1]) if line else 1, f"is not valid TOML: {error}")) from error
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == "[[question]]"]
    tables = content.get("question", [])
    problems = [Problem(path, 1, f"unknown key {key!r}") for key in content.keys() - {"setup", "question"}]
    for line, table in zip(lines, tables, strict=False):
        problems += [Problem(path, line, message) for message in _faults(table)]
    if problems:
        raise PressError(*problems)
    return tuple(_question(table, content.get("setup", "")) for table in tables)


def _faults(table: dict[str, Any]) -> list[str]:
    choices = table.get("choice", [])
    faults = _keys("a question", table, {"ask", "read", "choice"}, {"code", "proof"})
    for choice in choices:
        faults += _keys("a choice", choice, {"say", "why", "holds"}, {"right"})
    if not FEWEST_CHOICES <= len(choices) <= MOST_CHOICES:
        faults.append(f"a question has {FEWEST_CHOICES} or {MOST_CHOICES} choices, but this one has {len(choices)}")
    if sum(choice.get("right") is True for choice in choices) != 1:
        faults.append("exactly one choice is right: write `right = true` there")
    return faults


def _keys(of: str, table: dict[str, Any], needed: set[str], allowed: set[str]) -> list[str]:
    lacking = sorted(key for key in needed if not table.get(key))
    unknown = sorted(table.keys() - needed - allowed)
    return [f"{of} lacks {key!r}" for key in lacking] + [f"{of} has no key {key!r}" for key in unknown]


def _question(table: dict[str, Any], setup: str) -> Question:
    texts = {key: table.get(key, "").strip("\n") for key in ("ask", "read", "code", "proof")}
    return Question(choices=tuple(Choice(**choice) for choice in table["choice"]), setup=setup.strip("\n"), **texts)


def as_markdown(questions: tuple[Question, ...], link: Callable[[Question], str]) -> str:
    """The questions as plain Markdown, with a heading.

    ``link`` returns the Markdown link to the section that answers a question.
    """
    opening = (
        f"{_NUMBERS[len(questions)].capitalize()} questions on the chapter. Open a question, then the answer that you "
        "would give, to see at once whether it is right, and why."
    )
    folds = [_as_fold(number, question, link(question)) for number, question in enumerate(questions, start=1)]
    return "\n\n".join([f"## {HEADING}", opening, *folds])


def _as_fold(number: int, question: Question, link: str) -> str:
    parts = [f'<details class="fx-asked">\n<summary>{number}. {_inline(question.ask)}</summary>']
    if question.code:
        parts.append(f"```python\n{question.code}\n```")
    for letter, choice in zip("abcd", question.choices, strict=False):
        kind, verdict = ("fx-right", "Right.") if choice.right else ("fx-wrong", "Wrong.")
        again = "" if choice.right else f" Read {link}."
        parts += [
            f'<details class="fx-choice {kind}">\n<summary>{letter}. {_inline(choice.say)}</summary>',
            f"**{verdict}** {choice.why}{again}",
            "</details>",
        ]
    return "\n\n".join([*parts, "</details>"])


def _inline(text: str) -> str:
    """A line of Markdown for a ``summary``, where Markdown is not parsed: code spans as HTML."""
    return _CODE.sub(r"<code>\1</code>", html.escape(text, quote=False))
