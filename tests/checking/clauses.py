"""What the text of a task asks, clause by clause, and the case in which each is seen: ``clauses.toml`` beside the task.

::

    tells = ["The code below replaces the uses; two steps are missing."]

    [[clause]]
    asks = "Keep everything else, such as `nn.Dropout1d`"
    case = "a dropout called often, two in a row, dropouts of another kind"
    wrong = "takes_every_kind_of_dropout"

``asks`` are words of the text or of the stub's docstring, ``case`` is the name of a case, and ``wrong`` an answer of
``answers.py`` that breaks the clause and is refused in that case, whatever is drawn. ``tells`` are the sentences that
ask nothing. Every sentence of the text is in one or the other.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib

from fxbook import tasks

NAME = "clauses.toml"
_SENTENCE = re.compile(r"(?<=[.:?!;])\s+")
_DOCSTRING = re.compile(r'"""(.*?)"""', re.S)
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_LISTED = re.compile(r"^\s*(?:[-*]|\d+\.)\s+", re.M)


@dataclasses.dataclass(frozen=True)
class Clause:
    """A part of what a task asks; see the module for each."""

    asks: str
    case: str
    wrong: str


@dataclasses.dataclass(frozen=True)
class Clauses:
    """What the text of a task asks, and what it only tells."""

    asked: tuple[Clause, ...]
    tells: tuple[str, ...]

    def covers(self, sentence: str) -> bool:
        """Whether a sentence asks something that has its case, or is listed as one that asks nothing."""
        return sentence in self.tells or any(clause.asks in sentence for clause in self.asked)


def clauses_of(exercise_id: str) -> Clauses:
    """The table of an exercise.

    Raises:
        FileNotFoundError: it has none.
        KeyError: a clause lacks its words, its case or its wrong answer.
    """
    table = tomllib.loads((tasks.folder_of(exercise_id) / NAME).read_text(encoding="utf-8"))
    asked = tuple(Clause(clause["asks"], clause["case"], clause["wrong"]) for clause in table.get("clause", ()))
    return Clauses(asked, tuple(table.get("tells", ())))


def sentences(exercise_id: str) -> list[str]:
    """The sentences of the text of a task, above its first code, each in one line."""
    text = _task(exercise_id).partition("```{code-cell}")[0]
    paragraphs = re.split(r"\n\s*\n", _LISTED.sub("\n", _COMMENT.sub("", text)).strip())
    lines = [" ".join(paragraph.split()) for paragraph in paragraphs if not paragraph.startswith("#")]
    return [sentence for line in lines for sentence in _SENTENCE.split(line) if sentence]


def docstring(exercise_id: str) -> str:
    """The docstring of the stub, in one line; ``""`` where it has none."""
    match = _DOCSTRING.search(_task(exercise_id).partition("# solution")[0])
    return " ".join(match[1].split()) if match else ""


def _task(exercise_id: str) -> str:
    return (tasks.folder_of(exercise_id) / "task.md").read_text(encoding="utf-8")
