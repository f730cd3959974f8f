"""Find the versions of a chapter's sheet among a student's files, ordered by when they were handed in.

The learning system's data comes first: the number of a file on Canvas, the time of an attempt on Blackboard. Without
it, data that the student can choose counts, in this order: the number of the attempt in the folders (``attempt 2``);
the number of the version or copy in the name (a browser's ``(2)``, Canvas's ``-2``, ``v2``), with at most two digits;
the time of saving, if it differs by at least two seconds; a notebook before a script.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from classroom.collect import names
from classroom.collect.files import Entry
from classroom.collect.lateness import Lateness
from classroom.collect.names import Given
from classroom.grade.records import Version

# Times in a zip are even numbers of seconds.
_SAME_MOMENT = 2.0
# The most versions of a sheet, and bytes in them, that a worker gets; the latest are chosen.
MOST, _MOST_BYTES = 10, 12 << 20


@dataclasses.dataclass(frozen=True)
class File:
    """A file that may be the sheet of a chapter.

    Args:
        named: the chapter in its name, or ``""``.
        counts: the number of its exercises by chapter.
    """

    entry: Entry
    given: Given
    data: bytes
    refused: str
    named: str
    counts: dict[str, int]

    @property
    def main(self) -> set[str]:
        """The chapters that this file mainly belongs to."""
        if self.named and (self.named in self.counts or not self.counts):
            return {self.named}
        return {chapter for chapter, many in self.counts.items() if many == max(self.counts.values())}

    @property
    def order(self) -> tuple[int, int, int]:
        """The order of submission according to the names; the learning system's number comes first."""
        return self.given.order, *names.version(self.entry.parts)


def of_chapter(chapter: str, files: Sequence[File]) -> list[File]:
    """The files that are mainly this chapter's sheet or, if there are none, those that contain some of it."""
    return [file for file in files if chapter in file.main] or [file for file in files if chapter in file.counts]


def versions(files: Sequence[File], late: Callable[[File], Lateness]) -> tuple[list[Version], int]:
    """The distinct versions, oldest first and at most :data:`MOST`, and how many there are in all.

    A version that was handed in twice is as late as its first copy.
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
    """Group the files, latest first. The time does not distinguish files in one group."""
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
    return [file for file in files if names.suffix(file.entry.name) != "py"] or files


def _few(newest_first: list[Version]) -> list[Version]:
    newest: list[Version] = []
    for version in newest_first[:MOST]:
        if newest and sum(len(other.data) for other in (*newest, version)) > _MOST_BYTES:
            break
        newest.append(version)
    return newest


def tied(paths: Sequence[str]) -> str:
    """The message for the student if nothing shows which of several files is the last."""
    listed = ", ".join(sorted(paths)[:3])
    return (
        f"{len(paths)} files were handed in for it, and it is not clear which is the last ({listed}): keep one of them."
    )
