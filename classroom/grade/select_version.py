"""Select the version of a sheet that counts for an exercise, and subtract the penalty for lateness.

An exercise is begun in a version if a cell other than the unchanged stub defines the answer. So an untouched copy that
is handed in later replaces nothing.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools

from classroom.collect.lateness import Rule
from classroom.collect.reading import ParsedSheet, read_sheet
from classroom.collect.versions import tied
from classroom.grade.jobs import Job
from classroom.grade.records import Mark, Version
from classroom.sandbox import Sandbox
from fxbook.grading import About

# The largest number of versions that are graded for an exercise if the best counts: the last ones in which it was
# begun.
MOST_GRADED = 5
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_WHY = {"last begun": "the last in which it was begun", "best": "the best of them", "last": "the last"}


@dataclasses.dataclass(frozen=True)
class SelectedVersion:
    """A version that may count for an exercise.

    Args:
        note: its position among the versions, and why it counts; ``""`` if there is only one.
        late_days, late_note: as in :class:`classroom.grade.records.Version`.
    """

    read: ParsedSheet
    note: str = ""
    late_days: int = 0
    late_note: str = ""

    def taken(self, mark: Mark, rule: Rule) -> Mark:
        """The mark together with the version's data, after deducting the penalty for lateness."""
        if mark.status not in ("passed", "public", "failed"):
            return dataclasses.replace(mark, version=self.note)
        penalty = round(mark.points * rule.share(self.late_days), 6)
        return dataclasses.replace(
            mark,
            points=round(mark.points - penalty, 6) if penalty else mark.points,
            penalty=penalty,
            version=self.note,
            late_days=self.late_days,
            late_note=self.late_note,
        )


class VersionSelector:
    """The versions of a chapter's sheet, each read at most once and only if it may count."""

    def __init__(self, job: Job, chapter: str, sandbox: Sandbox) -> None:
        self._job, self._sandbox = job, sandbox
        self._chapter = chapter
        self._versions = job.submission.versions.get(chapter, ())
        self._read = functools.cache(self._read_version)

    def _read_version(self, version: Version) -> ParsedSheet:
        in_hand = self._job.submission.with_version(self._chapter, version)
        return read_sheet(in_hand, self._job.assignment, self._chapter, self._sandbox)

    def _read_as_handed_in(self) -> ParsedSheet:
        return read_sheet(self._job.submission, self._job.assignment, self._chapter, self._sandbox)

    def for_exercise(self, about: About) -> list[SelectedVersion]:
        """The candidates, usually only one. The one with the most points counts; of equal ones, the latest counts."""
        match self._job.assignment.counts:
            case "last begun":
                candidates = self._last_begun(about)
            case "best":
                candidates = self._begun(about)
            case _:
                candidates = []
        return candidates or [self._last(about)]

    def _last_begun(self, about: About) -> list[SelectedVersion]:
        unread: list[str] = []
        for _, group in itertools.groupby(reversed(self._versions), key=lambda version: version.rank):
            same = list(group)
            begun = [version for version in same if _is_begun(self._read(version), about)]
            if len(begun) > 1:
                return [SelectedVersion(ParsedSheet(None, tied([version.path for version in begun])))]
            if begun:
                remark = f"; {', '.join(unread[:3])} cannot be read" if unread else ""
                return [self._counted(begun[0], _WHY["last begun"] + remark)]
            unread += [version.name for version in same if self._read(version).sheet is None]
        return []

    def _begun(self, about: About) -> list[SelectedVersion]:
        begun = (version for version in reversed(self._versions) if _is_begun(self._read(version), about))
        return [self._counted(version, _WHY["best"]) for version in itertools.islice(begun, MOST_GRADED)][::-1]

    def _last(self, about: About) -> SelectedVersion:
        """The last version, or the reason why there is none; also used if the exercise was begun in no version."""
        counts = self._job.assignment.counts
        nobody_can_tell = self._chapter in self._job.submission.problems and counts == "last"
        if not self._versions or nobody_can_tell:
            return SelectedVersion(self._read_as_handed_in())
        return self._counted(self._versions[-1], _WHY["last"] if counts == "last" else "it was begun in none")

    def _counted(self, version: Version, why: str) -> SelectedVersion:
        many = self._job.submission.attempts.get(self._chapter, 0)
        note = f"{version.name}, the {_nth(version.number)} of {many} versions: {why}" if many > 1 else version.name
        return SelectedVersion(self._read(version), note, version.late_days, version.late_note)


def _nth(number: int) -> str:
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    return f"{number}" + ("th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th"))


def _is_begun(read: ParsedSheet, about: About) -> bool:
    return read.sheet is not None and bool(read.defined_in.get(about.answer)) and about.answer not in read.untouched
