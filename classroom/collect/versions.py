"""The versions of a chapter's sheet among the files of one student, in the order in which they were handed in.

What the learning system wrote comes first: the number of the file on Canvas, the moment of an attempt on Blackboard.
Only where it is silent does what the student may choose decide: the number of the try that the folders tell
(``attempt 2``); then the number of version or copy in the name (a browser's ``(2)``, Canvas's ``-2``, ``v2``), of two
digits at most; then the time at which it was saved, where that differs by two seconds or more; then a notebook comes
before a script.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from classroom.collect import names
from classroom.collect.files import Entry
from classroom.collect.lateness import Lateness
from classroom.collect.names import Given
from classroom.grade.records import Version

# The times in a zip are even numbers of seconds.
_SAME_MOMENT = 2.0
# So many versions of a sheet go to a worker, and so many bytes: the latest.
MOST, _MOST_BYTES = 10, 12 << 20


@dataclasses.dataclass(frozen=True)
class File:
    """A file that may be the sheet of a chapter: its bytes, or why they cannot be had.

    Args:
        entry: where it lies.
        given: what the learning system wrote of it.
        data: its bytes.
        refused: why there are none.
        named: the chapter that its name tells, ``""`` where none.
        held: of each chapter how many of its exercises are in it.
    """

    entry: Entry
    given: Given
    data: bytes
    refused: str
    named: str
    held: dict[str, int]

    @property
    def main(self) -> set[str]:
        """The chapters that it is the sheet of, in the first place."""
        if self.named and (self.named in self.held or not self.held):
            return {self.named}
        return {chapter for chapter, many in self.held.items() if many == max(self.held.values())}

    @property
    def order(self) -> tuple[int, int, int]:
        """What names tell of when it was handed in; the learning system's word comes first."""
        return self.given.order, *names.version(self.entry.parts)


def of_chapter(chapter: str, found: Sequence[File]) -> list[File]:
    """The versions of the sheet of a chapter: files that are it in the first place, else such as hold it too."""
    return [one for one in found if chapter in one.main] or [one for one in found if chapter in one.held]


def versions(found: Sequence[File], late: Callable[[File], Lateness]) -> tuple[list[Version], int]:
    """The different versions among the files, the oldest first, at most :data:`MOST`; and how many there are.

    A version that was handed in twice is as late as when it first came.
    """
    groups = _groups(found)
    lateness: dict[tuple[bytes, str], Lateness] = {}
    for one in found:
        here, known = late(one), lateness.get((one.data, one.refused))
        if known is None or (here.days, here.note) < (known.days, known.note):
            lateness[one.data, one.refused] = here
    made: list[Version] = []
    seen: set[tuple[bytes, str]] = set()
    for rank, group in enumerate(groups):
        for one in group:
            if (one.data, one.refused) not in seen:
                seen.add((one.data, one.refused))
                own = lateness[one.data, one.refused]
                path, name = (names.shown(text) for text in ("/".join(one.entry.parts), one.entry.name))
                problem = f"{name} {one.refused}." if one.refused else ""
                made.append(Version(name, one.data, path, problem, -rank, 0, own.days, own.note))
    numbered = [dataclasses.replace(one, number=len(made) - at) for at, one in enumerate(made)]
    return _few(numbered)[::-1], len(made)


def _groups(found: Sequence[File]) -> list[list[File]]:
    """The files, those handed in last first; nobody can tell those of one group apart in time."""
    left = sorted(found, key=lambda one: (one.order, one.entry.time, one.entry.parts), reverse=True)
    groups = []
    while left:
        newest = left[0]
        many = sum(one.order == newest.order and newest.entry.time - one.entry.time < _SAME_MOMENT for one in left)
        groups.append(_notebooks(sorted(left[:many], key=lambda one: one.entry.parts, reverse=True)))
        left = left[many:]
    return groups


def _notebooks(found: list[File]) -> list[File]:
    """Those that are notebooks; where none is, all of them."""
    return [one for one in found if names.suffix(one.entry.name) != "py"] or found


def _few(newest_first: list[Version]) -> list[Version]:
    kept: list[Version] = []
    for one in newest_first[:MOST]:
        if kept and sum(len(other.data) for other in (*kept, one)) > _MOST_BYTES:
            break
        kept.append(one)
    return kept


def tied(paths: Sequence[str]) -> str:
    """What the student is told where nobody can tell which of several files is the last."""
    told = ", ".join(sorted(paths)[:3])
    return f"{len(paths)} files were handed in for it and nothing tells which is the last ({told}): keep one of them."
