"""Compare two frames node by node: as marks, as added and removed edges, and as sentences."""

from __future__ import annotations

import dataclasses
from collections.abc import Set

from fxbook.drawing.layout import argument_places
from fxbook.drawing.lettering import clean
from fxbook.drawing.paint import SIGNS
from fxbook.stepping.edit.snapshot import Snapshot

MARKS = {**SIGNS, "retargeted": "≠", "changed": "≠", "renamed": "≠"}
Input = tuple[int, int, str]
"""The key of the input, that of its user, and the position among the arguments."""


@dataclasses.dataclass(frozen=True)
class Changes:
    """The changes since the previous frame.

    ``marks`` are given by key, for nodes in either frame; ``details`` adds to a mark, for example what a rewired
    node uses now; ``arrived`` and ``left`` are inputs of nodes that are in both frames.
    """

    marks: dict[int, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    details: dict[int, str] = dataclasses.field(default_factory=dict)
    arrived: frozenset[Input] = frozenset()
    left: frozenset[Input] = frozenset()
    sentences: tuple[str, ...] = ()


def compare(before: Snapshot, after: Snapshot, moved: Set[int]) -> Changes:
    """Compare two snapshots; ``moved`` holds the keys of nodes whose position in the list has changed."""
    marks: dict[int, list[str]] = {}
    details: dict[int, str] = {}
    sentences: list[str] = []
    arrived: set[Input] = set()
    left: set[Input] = set()

    def mark(key: int, word: str, sentence: str) -> None:
        marks.setdefault(key, []).append(word)
        sentences.append(f"{MARKS[word]} {sentence}")

    for key, node in before.nodes.items():
        if key not in after.nodes:
            mark(key, "removed", f"{node.name} is removed")
    for at, (key, node) in enumerate(after.nodes.items()):
        old = before.nodes.get(key)
        if old is None:
            mark(key, "added", f"{node.name} is added{_place(after, at)}")
            continue
        if key in moved:
            mark(key, "moved", f"{node.name} is moved: it is now{_place(after, at)}")
        if old.name != node.name:
            mark(key, "renamed", f"{old.name} is now named {node.name}")
        if (old.op, old.target) != (node.op, node.target):
            what = "calls" if node.op.startswith("call") else "is"
            mark(key, "retargeted", f"{node.name} {what} {clean(node.target, 60)} instead of {clean(old.target, 60)}")
        was, now = _reads(key, before), _reads(key, after)
        if was != now:
            arrived |= now - was
            left |= was - now
            detail = _rewiring(was - now, now - was, before, after)
            details[key] = detail
            mark(key, "rewired", f"{node.name} {detail}")
        elif old.constants != node.constants:
            mark(key, "changed", f"{node.name} has different arguments: {clean(node.call, 80)}")
    tidy = {key: tuple(words) for key, words in marks.items()}
    return Changes(tidy, details, frozenset(arrived), frozenset(left), tuple(sentences))


def _place(snapshot: Snapshot, at: int) -> str:
    return f" after {snapshot.record.nodes[at - 1].name}" if at else " first in the list"


def _reads(key: int, snapshot: Snapshot) -> set[Input]:
    node = snapshot.nodes[key]
    places = argument_places(node)
    return {(snapshot.keys[index], key, place) for index, place in zip(node.inputs, places, strict=True)}


def _rewiring(gone: set[Input], new: set[Input], before: Snapshot, after: Snapshot) -> str:
    old_names = _names(gone, before)
    names = _names(new, after)
    if not names:
        return f"no longer uses {old_names}"
    if not old_names:
        return f"uses {names} too"
    return f"uses {names} in place of {old_names}" if old_names != names else f"uses {names} in another place"


def _names(inputs: set[Input], snapshot: Snapshot) -> str:
    ordered = sorted(inputs, key=lambda one: one[2])
    return ", ".join(dict.fromkeys(clean(snapshot.nodes[source].name, 60) for source, _, _ in ordered))
