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
        counts: of each chapter how many of its exercises are in it.
    """

    entry: Entry
    given: Given
    data: bytes
    refused: str
    named: str
    counts: dict[str, int]

    @property
    def main(self) -> set[str]:
        """The chapters that it is the sheet of, in the first place."""
        if self.named and (self.named in self.counts or not self.counts):
            return {self.named}
        return {chapter for chapter, many in self.counts.items() if many == max(self.counts.values())}

    @property
    def order(self) -> tuple[int, int, int]:
        """What names tell of when it was handed in; the learning system's word comes first."""
        return self.given.order, *names.version(self.entry.parts)


def of_chapter(chapter: str, files: Sequence[File]) -> list[File]:
    """The versions of the sheet of a chapter: files that are it in the first place, else such as hold it too."""
    return [file for file in files if chapter in file.main] or [file for file in files if chapter in file.counts]


def versions(files: Sequence[File], late: Callable[[File], Lateness]) -> tuple[list[Version], int]:
    """The different versions among the files, the oldest first, at most :data:`MOST`; and how many there are.

    A version that was handed in twice is as late as when it first came.
    """
    groups = _groups(files)
    lateness: dict[tuple[bytes, str], Lateness] = {}
    for file in files:
        here, earlier = late(file), lateness.get((file.data, file.refused))
        if earlier is None or (here.days, here.note) < (earlier.days, earlier.note):
            lateness[file.data, file.refused] = here
    distinct: list[Version] = []
    contents: set[tuple[bytes, str]] = set()
    for rank, group in enumerate(groups):
        for file in group:
            if (file.data, file.refused) not in contents:
                contents.add((file.data, file.refused))
                own = lateness[file.data, file.refused]
                path, name = (names.shown(text) for text in ("/".join(file.entry.parts), file.entry.name))
                problem = f"{name} {file.refused}." if file.refused else ""
                distinct.append(Version(name, file.data, path, problem, -rank, 0, own.days, own.note))
    numbered = [dataclasses.replace(version, number=len(distinct) - at) for at, version in enumerate(distinct)]
    return _few(numbered)[::-1], len(distinct)


def _groups(files: Sequence[File]) -> list[list[File]]:
    """The files, those handed in last first; nobody can tell those of one group apart in time."""
    remaining = sorted(files, key=lambda file: (file.order, file.entry.time, file.entry.parts), reverse=True)
    groups = []
    while remaining:
        newest = remaining[0]
        many = sum(
            file.order == newest.order and newest.entry.time - file.entry.time < _SAME_MOMENT for file in remaining
        )
        groups.append(_notebooks(sorted(remaining[:many], key=lambda file: file.entry.parts, reverse=True)))
        remaining = remaining[many:]
    return groups


def _notebooks(files: list[File]) -> list[File]:
    """Those that are notebooks; where none is, all of them."""
    return [file for file in files if names.suffix(file.entry.name) != "py"] or files


def _few(newest_first: list[Version]) -> list[Version]:
    newest: list[Version] = []
    for version in newest_first[:MOST]:
        if newest and sum(len(other.data) for other in (*newest, version)) > _MOST_BYTES:
            break
        newest.append(version)
    return newest


def tied(paths: Sequence[str]) -> str:
    """What the student is told where nobody can tell which of several files is the last."""
    listed = ", ".join(sorted(paths)[:3])
    return f"{len(paths)} files were handed in for it and nothing tells which is the last ({listed}): keep one of them."
