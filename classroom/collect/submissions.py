"""Find what each student handed in: whose a file is, which chapter it belongs to, and which versions there are of it.

Whose: by the name of the folder or file at the top, as :mod:`classroom.collect.names` reads it, with the number that a
learning system gave the student; two spellings of one name in Unicode are one student.

Which chapter: by the name of the file, in full (``02_insertion_points``) or without its number; by its content where
the name tells none or the content tells only others: the ids in its calls of ``check`` and ``hint``, else the answers
that it defines. One notebook may hold several chapters.

Which versions: in the order that :mod:`classroom.collect.versions` finds. The last is in hand. Where nobody can tell
which is the last, none is, and a sentence says so; it says so too where the last cannot be used.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from classroom.assignment import Assignment
from classroom.collect import files, names
from classroom.collect.content import chapters, held
from classroom.collect.files import Entry, RefusedError
from classroom.collect.gradescope import handed_in_on_gradescope
from classroom.collect.lateness import Lateness, Told, local, plain
from classroom.collect.names import Given, Owner
from classroom.collect.versions import File, of_chapter, tied, versions
from classroom.grade.records import Participant, Submission

_MOST_READ = 200
_OTHER_KINDS = 3


class SubmissionsError(Exception):
    """A folder that holds no submissions; the message says what to give instead."""


@dataclasses.dataclass(frozen=True)
class Found:
    """The submissions, in the order of the names.

    Args:
        submissions: one for each student.
        unused: the files at the top that belong to nobody.
        untimed: students of whom nothing tells when they handed in.
        notes: what is wrong with extensions, for the teacher.
    """

    submissions: list[Submission]
    unused: tuple[str, ...]
    untimed: int = 0
    notes: tuple[str, ...] = ()


Handed = tuple[Entry, Given]


def find(folder: Path, assignment: Assignment) -> list[Submission]:
    """What each student handed in, in the order of their names; see :func:`look`."""
    return look(folder, assignment).submissions


def look(
    folder: Path, assignment: Assignment, told_of: Callable[[Sequence[Participant]], Mapping[str, Told]] | None = None
) -> Found:
    """What each student handed in for the chapters of an assignment, read within limits; nothing is run or unpacked.

    Args:
        folder: one folder or notebook per student, or the zip that a learning system makes of them.
        assignment: its chapters are looked for, and its deadline says what is late.
        told_of: gives, by key, what a learning system says elsewhere of when each student handed in.

    Raises:
        SubmissionsError: it is no folder and no zip, or nothing in it can be a submission.
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
            f"{folder} holds no submission: give the folder that holds one folder or one notebook for each student, "
            "or the zip that your learning system makes."
        )
    keys = names.keys(owned)
    people = {one: Participant(keys[one], one.name, one.number, folders.get(one, "")) for one in owned}
    known = {one: _known_names(person) for one, person in people.items()}
    elsewhere = told_of(list(people.values())) if told_of else {}
    told = {one: elsewhere.get(keys[one], Told()) for one in owned}
    found = [
        _submission(people[one], handed, assignment, _late(assignment, known[one], told[one]))
        for one, handed in owned.items()
    ]
    return Found(
        sorted(found, key=lambda one: (one.student.casefold(), one.key)),
        tuple(dict.fromkeys(unused)),
        sum(not _timed(told[one], owned[one]) for one in owned),
        _wrong_extensions(assignment, known.values()),
    )


def _known_names(one: Participant) -> frozenset[str]:
    """All by which a teacher may name a student in the assignment file."""
    told = (one.student, names.shown(one.student), one.number, one.key, one.folder)
    return frozenset(map(plain, filter(None, told)))


def _late(assignment: Assignment, known: frozenset[str], told: Told) -> Callable[[File], Lateness]:
    """How late a file of one student is: by what the system wrote into its name, and what it says of the student."""
    deadline = assignment.deadline

    def late(file: File) -> Lateness:
        moment = told.moment or (local(file.given.moment, deadline.zone) if file.given.moment else None)
        both = dataclasses.replace(told, moment=moment, late=file.given.late if told.late is None else told.late)
        return deadline.lateness(both, file.entry.time, known)

    return late


def _timed(told: Told, handed: Sequence[Handed]) -> bool:
    return told != Told() or any(given.moment or given.late is not None for _, given in handed)


def _wrong_extensions(assignment: Assignment, known: Iterable[frozenset[str]]) -> tuple[str, ...]:
    students = list(known)
    notes = []
    for name in assignment.deadline.extensions:
        many = sum(plain(name) in one for one in students)
        if many != 1:
            whose = "nobody who handed in" if not many else f"{many} students, who all get it"
            notes.append(f"[extensions] {names.shown(name)} is {whose}: give the name or the number of a folder.")
    return tuple(notes)


def _all(folder: Path) -> list[Entry]:
    folder = folder.resolve()
    try:
        if folder.is_dir():
            entries = list(files.below(folder)) + [
                _empty(one) for one in sorted(folder.iterdir()) if one.is_dir() and not one.is_symlink()
            ]
            return _of_the_class(folder, entries)
        if folder.is_file():
            return files.in_zip(folder)
    except (RefusedError, OSError) as error:
        raise SubmissionsError(f"{folder} {error}: download it again from your learning system.") from error
    raise SubmissionsError(f"There is no folder {folder}.")


def _of_the_class(folder: Path, entries: list[Entry]) -> list[Entry]:
    """The entries; where there is nothing but a zip of the whole class, those in it."""
    if len(entries) == 1 and files.is_zip(entries[0]) and names.owner(entries[0].name, folder=False) is None:
        inside = files.in_zip(folder / entries[0].name)
        if not any(_is_part_of_homework(entry.parts[0]) for entry in inside):
            return inside
    return entries


def _empty(folder: Path) -> Entry:
    """Stands for a folder, so that a student with an empty one is not lost."""
    return Entry((folder.name, ""), 0, 0.0, lambda _: b"")


def _unwrapped(entries: list[Entry], folder: Path) -> list[Entry]:
    """The entries without folders around all of them that are no student's."""
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
    """Whether a folder or file is one of a student's rather than a student's own."""
    if name in ("exercises", "solutions") or names.version((name, ""))[0]:
        return True
    return any(names.plain(name) in (chapter, chapter.partition("_")[2]) for chapter in chapters())


def _given(entry: Entry, gradescope: Mapping[str, tuple[str, dt.datetime | None]], title: str) -> Handed | None:
    """An entry without what the learning system added to its name, and what that says of it."""
    top, folder = entry.parts[0], len(entry.parts) > 1
    if not folder and entry.refused == files.LEADS_OUT:
        return None
    if found := names.given(top, folder, title):
        name, moment = gradescope.get(top, (found.owner.name, found.moment))
        parts = entry.parts if folder else (found.rest or top,)
        own = dataclasses.replace(found, owner=Owner(name, found.owner.number), moment=moment)
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
    found, others = _files(inside)
    shown = names.shown(whose.student) or whose.key
    submission = Submission(whose.key, shown, number=whose.number, folder=whose.folder)
    attempts, problems, every = {}, {}, {}
    for chapter in assignment.chapters:
        every[chapter], attempts[chapter] = versions(of_chapter(chapter, found), late)
        if not every[chapter]:
            wrong = [f"{one.entry.name} holds {_and(one.held)}" for one in found if one.named == chapter]
            if told := [*wrong, *others]:
                problems[chapter] = (
                    f"Nothing that can be used was found for {chapter}: {'; '.join(told[:_OTHER_KINDS])}."
                )
    submission = dataclasses.replace(
        submission,
        attempts=attempts,
        problems=problems,
        versions={chapter: tuple(own) for chapter, own in every.items() if own},
    )
    for chapter, own in submission.versions.items():
        last = [one for one in own if one.rank == own[-1].rank]
        in_hand = (
            last[-1] if len(last) == 1 else dataclasses.replace(last[-1], problem=tied([one.path for one in last]))
        )
        submission = submission.with_version(chapter, in_hand)
    return submission


def _files(entries: Iterable[Handed]) -> tuple[list[File], list[str]]:
    """The files that may be sheets, and what to say of the others where a chapter has none."""
    found: list[File] = []
    others: list[str] = []
    left = files.UNPACKED
    for count, (entry, given) in enumerate(entries):
        kind, chapter = names.suffix(entry.name), names.chapter(entry.name, chapters())
        if kind not in ("ipynb", "py") and not entry.refused:
            others.append(f"{names.shown(entry.name)} is no notebook")
            continue
        try:
            if count >= _MOST_READ or left <= 0:
                raise RefusedError("is one of too many files: hand in the notebooks alone")
            data, refused = entry.read(), ""
            left -= len(data)
        except RefusedError as error:
            data, refused = b"", str(error)
        inside = held(data)
        if chapter or inside:
            found.append(File(entry, given, data, refused, chapter, inside))
        elif kind != "py" or refused:
            others.append(f"{names.shown(entry.name)} {refused or 'holds no exercise of the book'}")
    return found, others


def _and(chapters: Iterable[str]) -> str:
    return "the exercises of " + " and ".join(sorted(chapters))
