"""Group the mistakes of a class by exercise, property and message, ignoring names that students chose.

Answers that could not be tried (an undefined name, a cell that is not Python, an endless loop) show no misunderstanding
of torch.fx and are grouped separately: :func:`troubles`.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from classroom.grade.records import Mark
from fxbook.grading import About

# The parts that may vary between students with the same mistake: quoted text, numbers and node names.
_TOKEN = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"|\w+")
_WORDS = re.compile(r"[^\W\d]\w*")
_SEED = re.compile(r"\s*\bSeed \d+\.")
_GAP = "…"
# The rules that only say that an answer could not be used.
_UNUSED = {"answered", "ends well"}
_RAISED = re.compile(r"\braises (\w+)")
# Python errors that are unrelated to torch.fx, in a teacher's words.
_PYTHON = {
    "NameError": "An undefined name",
    "UnboundLocalError": "An undefined name",
    "SyntaxError": "A cell that is not Python",
    "IndentationError": "A cell that is not Python",
    "TabError": "A cell that is not Python",
    "ImportError": "An import that fails",
    "ModuleNotFoundError": "An import that fails",
    "MemoryError": "More memory than an answer may use",
    "RecursionError": "Endless recursion",
    "SystemExit": "Code that exits Python",
    "KeyboardInterrupt": "Code that exits Python",
}
_ENDED = {
    "still running": "Code that does not finish in time",
    "ended the Python process": "Code that exits Python",
    "crashed the Python process": "Code that crashes Python",
    "closed or flooded": "Code that keeps its result from being read",
    "more memory": "More memory than an answer may use",
    "could not be defined": "A cell above the answer that raises an error",
}


@dataclasses.dataclass(frozen=True)
class Idea:
    """A mistake that several students made in the same way.

    Args:
        rule: the violated property.
        hidden: whether only a hidden variant shows it.
        message: the common message, with an ellipsis for parts that differ.
        marks: one for each student, in the order of the class.
        tried: the number of students who handed in something for the exercise.
        read: ``"chapter#anchor"`` of the section that explains it.
        trouble: the reason why the answer could not be tried, or ``""``.
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
        """Up to two of the marks, different if possible."""
        first = self.marks[0]
        return first, *[mark for mark in self.marks if (mark.line, mark.node) != (first.line, first.node)][:1]


@dataclasses.dataclass(frozen=True)
class Cause:
    """What mistakes have in common, most frequent first: a section to teach again, or why answers were not tried."""

    what: str
    ideas: tuple[Idea, ...]

    @property
    def students(self) -> int:
        return len({mark.key for idea in self.ideas for mark in idea.marks})


def wrong_ideas(exercises: Sequence[About], marks: Iterable[Mark]) -> list[Idea]:
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


def sections(ideas: Iterable[Idea]) -> tuple[Cause, ...]:
    """The sections that explain mistakes, sorted by the number of students they would help."""
    return _causes((idea.read, idea) for idea in ideas if not idea.trouble)


def troubles(ideas: Iterable[Idea]) -> tuple[Cause, ...]:
    return _causes((idea.trouble, idea) for idea in ideas)


def _causes(ideas: Iterable[tuple[str, Idea]]) -> tuple[Cause, ...]:
    groups: dict[str, list[Idea]] = defaultdict(list)
    for what, idea in ideas:
        if what:
            groups[what].append(idea)
    causes = (Cause(what, tuple(own)) for what, own in groups.items())
    return tuple(sorted(causes, key=lambda cause: -cause.students))


def _trouble(rule: str, message: str) -> str:
    """The reason why an answer could not be tried, or ``""`` if it was tried."""
    if rule not in _UNUSED:
        return ""
    raised = _RAISED.search(message)
    if raised and raised[1] in _PYTHON:
        return _PYTHON[raised[1]]
    return next((what for part, what in _ENDED.items() if part in message), "")


def full_message(mark: Mark) -> str:
    """The message for the teacher, which for a hidden variant says more than the student's."""
    # Without the seed, which differs between students with the same mistake.
    return _SEED.sub("", mark.for_teacher) if mark.status == "public" and mark.for_teacher else mark.message


def _skeleton(mark: Mark) -> tuple[str, ...]:
    return tuple(part for part, varies in _parts(mark) if not varies)


def _parts(mark: Mark) -> list[tuple[str, bool]]:
    """The message in pieces, alternately constant (even) and variable (odd)."""
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
    rows = [[part for part, _ in _parts(mark)] for mark in group]
    merged = []
    for at, pieces in enumerate(zip(*rows, strict=True)):
        alike = at % 2 == 0 or len(set(pieces)) == 1
        quote = pieces[0][0] if not alike and pieces[0][0] in "`'\"" else ""
        merged.append(pieces[0] if alike else f"{quote}{_GAP}{quote}")
    return "".join(merged)
