"""Which wrong ideas a class has: marks grouped by exercise, property and message, without the names students chose.

What kept an answer from being tried at all (a name that does not exist, a cell that is no Python, a loop without an
end) is no idea of torch.fx, and stands apart: :func:`troubles`.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from classroom.grade.records import Mark
from fxbook.grading import About

# What may differ between two students who made the same mistake: what is quoted, numbers, and the names of nodes.
_TOKEN = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"|\w+")
_WORDS = re.compile(r"[^\W\d]\w*")
_SEED = re.compile(r"\s*\bSeed \d+\.")
_GAP = "…"
# The properties that say no more than that an answer could not be used.
_UNUSED = {"answered", "ends well"}
_RAISED = re.compile(r"\braises (\w+)")
# Of the errors of Python those that say nothing of torch.fx, in a teacher's words.
_PYTHON = {
    "NameError": "A name that does not exist where it is used",
    "UnboundLocalError": "A name that does not exist where it is used",
    "SyntaxError": "A cell that is not Python",
    "IndentationError": "A cell that is not Python",
    "TabError": "A cell that is not Python",
    "ImportError": "An import that fails",
    "ModuleNotFoundError": "An import that fails",
    "MemoryError": "More memory than an answer may have",
    "RecursionError": "A function that calls itself without end",
    "SystemExit": "Code that ends Python",
    "KeyboardInterrupt": "Code that ends Python",
}
_ENDED = {
    "still running": "Code that does not come to its end in time",
    "ended the Python process": "Code that ends Python",
    "crashed the Python process": "Code that makes Python crash",
    "closed or flooded": "Code that keeps its result from being read",
    "more memory": "More memory than an answer may have",
    "could not be defined": "A cell above the answer that raises",
}


@dataclasses.dataclass(frozen=True)
class Idea:
    """What several students got wrong in the same way.

    Args:
        exercise: where.
        rule: the property that is violated.
        hidden: whether it is violated on a hidden variant only.
        message: the message, with an ellipsis where theirs differ.
        marks: one for each student, in the order of the class.
        tried: how many students handed something in for the exercise.
        read: ``"chapter#anchor"`` of the section that explains it.
        trouble: where it is none of torch.fx, what kept the answer from being tried, in words.
    """

    exercise: About
    rule: str
    hidden: bool
    message: str
    marks: tuple[Mark, ...]
    tried: int
    read: str
    trouble: str = ""

    @property
    def examples(self) -> tuple[Mark, ...]:
        """Two of the marks, as unlike as there are."""
        first = self.marks[0]
        return first, *[mark for mark in self.marks if (mark.line, mark.node) != (first.line, first.node)][:1]


@dataclasses.dataclass(frozen=True)
class Section:
    """A section of the book to teach again, and the wrong ideas that it meets, the most frequent first."""

    read: str
    ideas: tuple[Idea, ...]

    @property
    def students(self) -> int:
        """How many students it would help."""
        return len({mark.key for idea in self.ideas for mark in idea.marks})


@dataclasses.dataclass(frozen=True)
class Trouble:
    """What kept answers from being tried, in words, and where it did, the most frequent first."""

    what: str
    ideas: tuple[Idea, ...]

    @property
    def students(self) -> int:
        return len({mark.key for idea in self.ideas for mark in idea.marks})


def wrong_ideas(exercises: Sequence[About], marks: Iterable[Mark]) -> list[Idea]:
    """The wrong ideas of a class, the most frequent first."""
    of_exercise: dict[str, list[Mark]] = defaultdict(list)
    for mark in marks:
        of_exercise[mark.exercise].append(mark)
    ideas = []
    for about in exercises:
        own = of_exercise[about.id]
        tried = sum(mark.status not in ("missing", "error") for mark in own)
        groups: dict[tuple[object, ...], list[Mark]] = defaultdict(list)
        for mark in own:
            if mark.status in ("failed", "public"):
                groups[mark.status, mark.rule, _skeleton(mark)].append(mark)
        for (status, rule, _), group in groups.items():
            read = group[0].read or about.read
            merged = _merged(group)
            trouble = _trouble(str(rule), full_message(group[0]))
            ideas.append(Idea(about, str(rule), status == "public", merged, tuple(group), tried, read, trouble))
    return sorted(ideas, key=lambda idea: -len(idea.marks))


def sections(ideas: Iterable[Idea]) -> list[Section]:
    """The sections of the book that explain them, those that would help most students first."""
    of_section: dict[str, list[Idea]] = defaultdict(list)
    for idea in ideas:
        if idea.read and not idea.trouble:
            of_section[idea.read].append(idea)
    rows = (Section(read, tuple(own)) for read, own in of_section.items())
    return sorted(rows, key=lambda section: -section.students)


def troubles(ideas: Iterable[Idea]) -> list[Trouble]:
    """What kept answers from being tried, what meets most students first."""
    of_kind: dict[str, list[Idea]] = defaultdict(list)
    for idea in ideas:
        if idea.trouble:
            of_kind[idea.trouble].append(idea)
    rows = (Trouble(what, tuple(own)) for what, own in of_kind.items())
    return sorted(rows, key=lambda trouble: -trouble.students)


def _trouble(rule: str, message: str) -> str:
    """What kept an answer from being tried, ``""`` where it was tried and an idea of torch.fx is wrong."""
    if rule not in _UNUSED:
        return ""
    raised = _RAISED.search(message)
    if raised and raised[1] in _PYTHON:
        return _PYTHON[raised[1]]
    return next((what for part, what in _ENDED.items() if part in message), "")


def full_message(mark: Mark) -> str:
    """What the teacher reads of an answer that fails: the message; of a hidden variant what the student is not told."""
    # What else is kept for the teacher (the seed, the version that counts) differs where the mistake is the same.
    return _SEED.sub("", mark.for_teacher) if mark.status == "public" and mark.for_teacher else mark.message


def _skeleton(mark: Mark) -> tuple[str, ...]:
    """The parts of the message that students who made the same mistake share."""
    return tuple(part for part, varies in _parts(mark) if not varies)


def _parts(mark: Mark) -> list[tuple[str, bool]]:
    """The message in pieces, those between (even) and those that may vary (odd)."""
    names = _names(mark)
    text = full_message(mark)
    parts, at = [], 0
    for token in _TOKEN.finditer(text):
        piece = token[0]
        if piece[0] in "`'\"" or piece in names or not _WORDS.fullmatch(piece):
            parts += [(text[at : token.start()], False), (piece, True)]
            at = token.end()
    return [*parts, (text[at:], False)]


def _names(mark: Mark) -> frozenset[str]:
    graph = mark.graph if isinstance(mark.graph, dict) else {}
    nodes = graph.get("nodes")
    names = (node.get("name") for node in nodes if isinstance(node, dict)) if isinstance(nodes, list | tuple) else ()
    return frozenset({mark.node, *(name for name in names if isinstance(name, str))})


def _merged(group: list[Mark]) -> str:
    """Their message, with an ellipsis where they differ."""
    rows = [[part for part, _ in _parts(mark)] for mark in group]
    merged = []
    for at, pieces in enumerate(zip(*rows, strict=True)):
        alike = at % 2 == 0 or len(set(pieces)) == 1
        quote = pieces[0][0] if not alike and pieces[0][0] in "`'\"" else ""
        merged.append(pieces[0] if alike else f"{quote}{_GAP}{quote}")
    return "".join(merged)
