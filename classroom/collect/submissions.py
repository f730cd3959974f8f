"""Find what each student handed in: the owner, chapter and versions of each file.

Owner: from the name of the folder or file at the top and the learning system's number for the student
(:mod:`classroom.collect.names`). Names that differ only in their Unicode form belong to one student.

Chapter: from the name of the file, in full (``02_insertion_points``) or without its number. If the name has none, or
the content contradicts it, the content decides: the ids in calls to ``check`` and ``hint``, or else the answers that it
defines. One notebook may contain several chapters.

Versions: in the order of :mod:`classroom.collect.versions`. The last version is graded. If it cannot be determined or
used, a message says so.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from classroom.assignment import Assignment
from classroom.collect import files, names
from classroom.collect.content import chapters, exercise_counts
from classroom.collect.files import Entry, RefusedError
from classroom.collect.gradescope import handed_in_on_gradescope
from classroom.collect.lateness import Lateness, Receipt, local, plain
from classroom.collect.names import Given, Owner
from classroom.collect.versions import File, of_chapter, tied, versions
from classroom.grade.records import Participant, Submission

_MOST_READ = 200
_OTHER_KINDS = 3


class SubmissionsError(Exception):
    """A folder without submissions; the message says what to use instead."""


@dataclasses.dataclass(frozen=True)
class Collection:
    """The submissions, sorted by name.

    Args:
        untimed: the number of students without a known time of submission.
        notes: problems with extensions, for the teacher.
    """

    submissions: list[Submission]
    unused: tuple[str, ...]
    untimed: int = 0
    notes: tuple[str, ...] = ()


Handed = tuple[Entry, Given]


def find(folder: Path, assignment: Assignment) -> list[Submission]:
    """The submissions that :func:`look` finds."""
    return look(folder, assignment).submissions


def look(
    folder: Path,
    assignment: Assignment,
    receipts_of: Callable[[Sequence[Participant]], Mapping[str, Receipt]] | None = None,
) -> Collection:
    """Find each student's files for the chapters of an assignment, within limits; nothing is run or unpacked.

    Args:
        folder: one folder or notebook per student, or a learning system's zip of them.
        assignment: defines the chapters and the deadline.
        receipts_of: returns the learning system's records of submission times, by key.

    Raises:
        SubmissionsError: this is not a folder or zip, or contains nothing that can be a submission.
    """
    entries = _unwrapped(_all(folder), folder)
    gradescope = handed_in_on_gradescope(entries)
    title = names.blackboard_title(entry.parts[0] for entry in entries)
    owned: dict[Owner, list[Handed]] = {}
    folders: dict[Owner, str] = {}
    unused = []
    for entry in entries:
        if (whose := _given(entry, gradescope, title)) is None:
            unused.append(entry.parts[0])
        else:
            owned.setdefault(whose[1].owner, []).append(whose)
            if names.given(entry.parts[0], len(entry.parts) > 1):
                folders.setdefault(whose[1].owner, entry.parts[0])
    if not owned:
        raise SubmissionsError(
            f"{folder} contains no submissions: give the folder with one folder or notebook for each student, "
            "or the zip from your learning system."
        )
    keys = names.keys(owned)
    people = {owner: Participant(keys[owner], owner.name, owner.number, folders.get(owner, "")) for owner in owned}
    names_of = {owner: _known_names(person) for owner, person in people.items()}
    elsewhere = receipts_of(list(people.values())) if receipts_of else {}
    receipts = {owner: elsewhere.get(keys[owner], Receipt()) for owner in owned}
    submissions = [
        _submission(people[owner], handed, assignment, _late(assignment, names_of[owner], receipts[owner]))
        for owner, handed in owned.items()
    ]
    return Collection(
        sorted(submissions, key=lambda submission: (submission.student.casefold(), submission.key)),
        tuple(dict.fromkeys(unused)),
        sum(not _timed(receipts[owner], owned[owner]) for owner in owned),
        _wrong_extensions(assignment, names_of.values()),
    )


def _known_names(person: Participant) -> frozenset[str]:
    labels = (person.student, names.shown(person.student), person.number, person.key, person.folder)
    return frozenset(map(plain, filter(None, labels)))


def _late(assignment: Assignment, own_names: frozenset[str], receipt: Receipt) -> Callable[[File], Lateness]:
    """A function that returns how late a file is, from its name and the learning system's record of the student."""
    deadline = assignment.deadline

    def late(file: File) -> Lateness:
        moment = receipt.moment or (local(file.given.moment, deadline.zone) if file.given.moment else None)
        both = dataclasses.replace(
            receipt, moment=moment, late=file.given.late if receipt.late is None else receipt.late
        )
        return deadline.lateness(both, file.entry.time, own_names)

    return late


def _timed(receipt: Receipt, handed: Sequence[Handed]) -> bool:
    return receipt != Receipt() or any(given.moment or given.late is not None for _, given in handed)


def _wrong_extensions(assignment: Assignment, known: Iterable[frozenset[str]]) -> tuple[str, ...]:
    students = list(known)
    notes = []
    for name in assignment.deadline.extensions:
        many = sum(plain(name) in own_names for own_names in students)
        if many != 1:
            whose = "nobody who handed something in" if not many else f"{many} students, who all get it"
            notes.append(f"[extensions] {names.shown(name)} is {whose}: give the name or the number of a folder.")
    return tuple(notes)


def _all(folder: Path) -> list[Entry]:
    folder = folder.resolve()
    try:
        if folder.is_dir():
            entries = list(files.below(folder)) + [
                _empty(path) for path in sorted(folder.iterdir()) if path.is_dir() and not path.is_symlink()
            ]
            return _of_the_class(folder, entries)
        if folder.is_file():
            return files.in_zip(folder)
    except (RefusedError, OSError) as error:
        raise SubmissionsError(f"{folder} {error}: download it again from your learning system.") from error
    raise SubmissionsError(f"There is no folder {folder}.")


def _of_the_class(folder: Path, entries: list[Entry]) -> list[Entry]:
    if len(entries) == 1 and files.is_zip(entries[0]) and names.owner(entries[0].name, folder=False) is None:
        inside = files.in_zip(folder / entries[0].name)
        if not any(_is_part_of_homework(entry.parts[0]) for entry in inside):
            return inside
    return entries


def _empty(folder: Path) -> Entry:
    """An entry for a folder, so that a student with an empty one is not lost."""
    return Entry((folder.name, ""), 0, 0.0, lambda _: b"")


def _unwrapped(entries: list[Entry], folder: Path) -> list[Entry]:
    entries = [entry for entry in entries if not files.ignored(entry.parts[0])]
    submitted = [entry for entry in entries if entry.parts[0] == "submitted" and len(entry.parts) > 2]
    if submitted and folder.name != "submitted":
        return [_inside(entry) for entry in submitted]
    tops = {entry.parts[0] for entry in entries}
    inner = {entry.parts[1] for entry in entries if len(entry.parts) > 2}
    loose = any(len(entry.parts) <= 2 and names.suffix(entry.name) for entry in entries)
    if len(tops) != 1 or not inner or folder.name == "submitted" or names.owner(next(iter(tops)), folder=True):
        return entries
    from_system = any(names.owner(name, folder=True) for name in inner)
    several = len(inner) > 1 and not loose and not any(_is_part_of_homework(name) for name in inner)
    flat = loose and any(len(e.parts) == 2 and names.owner(e.name, folder=False) for e in entries)
    if not (from_system or several or flat):
        return entries
    return [_inside(entry) for entry in entries if entry.parts[1:] > ("",)]


def _inside(entry: Entry) -> Entry:
    return dataclasses.replace(entry, parts=entry.parts[1:])


def _is_part_of_homework(name: str) -> bool:
    """Whether a file or folder is part of one student's homework, rather than all of it."""
    if name in ("exercises", "solutions") or names.version((name, ""))[0]:
        return True
    return any(names.plain(name) in (chapter, chapter.partition("_")[2]) for chapter in chapters())


def _given(entry: Entry, gradescope: Mapping[str, tuple[str, dt.datetime | None]], title: str) -> Handed | None:
    """Separate what the learning system added to the name of an entry."""
    top, folder = entry.parts[0], len(entry.parts) > 1
    if not folder and entry.refused == files.LEADS_OUT:
        return None
    if naming := names.given(top, folder, title):
        name, moment = gradescope.get(top, (naming.owner.name, naming.moment))
        parts = entry.parts if folder else (naming.rest or top,)
        own = dataclasses.replace(naming, owner=Owner(name, naming.owner.number), moment=moment)
        return dataclasses.replace(entry, parts=parts), own
    if folder or entry.refused or names.suffix(top):
        return entry, Given(names.by_hand(top, folder, chapters()))
    return None


# ---- one student -----------------------------------------------------------------------------------------------------


def _submission(
    whose: Participant, handed: list[Handed], assignment: Assignment, late: Callable[[File], Lateness]
) -> Submission:
    inside = [
        (file, given)
        for entry, given in handed
        for file in (files.opened(entry) if files.is_zip(entry) else [entry])
        if file.name
    ]
    sheets, reasons = _files(inside)
    shown = names.shown(whose.student) or whose.key
    submission = Submission(whose.key, shown, number=whose.number, folder=whose.folder)
    attempts, problems, every = {}, {}, {}
    for chapter in assignment.chapters:
        every[chapter], attempts[chapter] = versions(of_chapter(chapter, sheets), late)
        if not every[chapter]:
            wrong = [f"{sheet.entry.name} contains {_and(sheet.counts)}" for sheet in sheets if sheet.named == chapter]
            if causes := [*wrong, *reasons]:
                problems[chapter] = f"No usable file was found for {chapter}: {'; '.join(causes[:_OTHER_KINDS])}."
    submission = dataclasses.replace(
        submission,
        attempts=attempts,
        problems=problems,
        versions={chapter: tuple(own) for chapter, own in every.items() if own},
    )
    for chapter, own in submission.versions.items():
        last = [version for version in own if version.rank == own[-1].rank]
        in_hand = (
            last[-1]
            if len(last) == 1
            else dataclasses.replace(last[-1], problem=tied([version.path for version in last]))
        )
        submission = submission.with_version(chapter, in_hand)
    return submission


def _files(entries: Iterable[Handed]) -> tuple[list[File], list[str]]:
    """The files that may be sheets, and the reasons to report if a chapter has no sheet."""
    sheets: list[File] = []
    reasons: list[str] = []
    budget = files.UNPACKED
    for count, (entry, given) in enumerate(entries):
        kind, chapter = names.suffix(entry.name), names.chapter(entry.name, chapters())
        if kind not in ("ipynb", "py") and not entry.refused:
            reasons.append(f"{names.shown(entry.name)} is not a notebook")
            continue
        try:
            if count >= _MOST_READ or budget <= 0:
                raise RefusedError("is one of too many files: hand in only the notebooks")
            data, refused = entry.read(), ""
            budget -= len(data)
        except RefusedError as error:
            data, refused = b"", str(error)
        counts = exercise_counts(data)
        if chapter or counts:
            sheets.append(File(entry, given, data, refused, chapter, counts))
        elif kind != "py" or refused:
            reasons.append(f"{names.shown(entry.name)} {refused or 'contains no exercise of the book'}")
    return sheets, reasons


def _and(chapters: Iterable[str]) -> str:
    return "the exercises of " + " and ".join(sorted(chapters))
