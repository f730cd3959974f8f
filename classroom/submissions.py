"""Find what each student handed in: whose a file is, which chapter it belongs to, and which of several versions counts.

Whose: by the name of the folder or file at the top, as :mod:`classroom.names` reads it, with the number that a learning
system gave the student; two spellings of one name in Unicode are one student.

Which chapter: by the name of the file, in full (``02_insertion_points``) or without its number; by its content where
the name tells none or the content tells only others: the ids in its calls of ``check`` and ``hint``, else the answers
that it defines. One notebook may hold several chapters.

Which version: the highest try that the folders tell (``attempt 2``); then the highest number of version or copy in the
name (Canvas's ``-2``, a browser's ``(2)``, ``v2``); then the one saved last, by two seconds or more; then a notebook
rather than a script. Where all of these are equal and the contents are not, none counts, and the student's row says so.
It says so too where the version that was handed in last cannot be used: an earlier one never takes its place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

from classroom import files, names
from classroom.assignment import Assignment
from classroom.content import chapters, held
from classroom.files import Entry, RefusedError
from classroom.names import Owner
from classroom.records import Submission

# The times in a zip are even numbers of seconds.
_SAME_MOMENT = 2.0
_MOST_READ = 200
_OTHER_KINDS = 3


class SubmissionsError(Exception):
    """A folder that holds no submissions; the message says what to give instead."""


@dataclasses.dataclass(frozen=True)
class Found:
    """The submissions, in the order of the names, and the files at the top that belong to nobody."""

    submissions: list[Submission]
    unused: tuple[str, ...]


def find(folder: Path, assignment: Assignment) -> list[Submission]:
    """What each student handed in, in the order of their names; see :func:`look`."""
    return look(folder, assignment).submissions


def look(folder: Path, assignment: Assignment) -> Found:
    """What each student handed in for the chapters of an assignment, read within limits; nothing is run or unpacked.

    Args:
        folder: one folder or notebook per student, or the zip that a learning system makes of them.
        assignment: its chapters are looked for.

    Raises:
        SubmissionsError: it is no folder and no zip, or nothing in it can be a submission.
    """
    entries = _unwrapped(_all(folder), folder)
    roster = _gradescope_names(entries)
    owned: dict[Owner, list[Entry]] = {}
    unused = []
    for entry in entries:
        if (whose := _owner(entry, roster)) is None:
            unused.append(entry.parts[0])
        else:
            owned.setdefault(whose[0], []).append(whose[1])
    if not owned:
        raise SubmissionsError(
            f"{folder} holds no submission: give the folder that holds one folder or one notebook for each student, "
            "or the zip that your learning system makes."
        )
    keys = names.keys(owned)
    found = [_submission(one, keys[one], held, assignment.chapters) for one, held in owned.items()]
    return Found(sorted(found, key=lambda one: (one.student.casefold(), one.key)), tuple(dict.fromkeys(unused)))


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


def _owner(entry: Entry, roster: dict[str, str]) -> tuple[Owner, Entry] | None:
    """Whose an entry is, and the entry without what the learning system added to its name."""
    top, folder = entry.parts[0], len(entry.parts) > 1
    if not folder and entry.refused == files.LEADS_OUT:
        return None
    if named := names.owner(top, folder):
        whose, rest = named
        parts = entry.parts if folder else (rest or top,)
        return Owner(roster.get(top, whose.name), whose.number), dataclasses.replace(entry, parts=parts)
    if folder or entry.refused or names.suffix(top):
        return names.by_hand(top, folder, chapters()), entry
    return None


def _gradescope_names(entries: Sequence[Entry]) -> dict[str, str]:
    """Of each folder of Gradescope's the names of those who handed it in."""
    told = [entry for entry in entries if entry.parts == ("submission_metadata.yml",)]
    if not told:
        return {}
    import yaml  # jupytext brings it; only Gradescope's export needs it.

    try:
        known = yaml.load(told[0].read(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return {
            str(folder): ", ".join(str(one[":name"]) for one in about[":submitters"]) for folder, about in known.items()
        }
    except (RefusedError, yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return {}


# ---- one student -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Version:
    """A file that may be the sheet of a chapter: its bytes, or why they cannot be had.

    Args:
        named: the chapter that its name tells, ``""`` where none.
        held: of each chapter how many of its exercises are in it.
    """

    entry: Entry
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
    def order(self) -> tuple[int, int]:
        return names.version(self.entry.parts)


def _submission(whose: Owner, key: str, entries: list[Entry], asked: Sequence[str]) -> Submission:
    handed_in = [file for entry in entries for file in (files.opened(entry) if files.is_zip(entry) else [entry])]
    versions, others = _versions([file for file in handed_in if file.name])
    sheets, file_names, attempts, problems = {}, {}, {}, {}
    for chapter in asked:
        of_it = _versions_of(chapter, versions)
        attempts[chapter] = _attempts(of_it)
        if not of_it:
            wrong = [f"{one.entry.name} holds {_and(one.held)}" for one in versions if one.named == chapter]
            told = [*wrong, *others]
            if told:
                problems[chapter] = (
                    f"Nothing that can be used was found for {chapter}: {'; '.join(told[:_OTHER_KINDS])}."
                )
            continue
        last = _last(of_it)
        if isinstance(last, str):
            problems[chapter] = last
        elif last.refused:
            problems[chapter] = f"{names.shown(last.entry.name)} {last.refused}."
        else:
            sheets[chapter], file_names[chapter] = last.data, names.shown(last.entry.name)
    return Submission(key, names.shown(whose.name) or key, sheets, file_names, attempts, problems)


def _versions(entries: Iterable[Entry]) -> tuple[list[_Version], list[str]]:
    """The files that may be sheets, and what to say of the others where a chapter has none."""
    versions: list[_Version] = []
    others: list[str] = []
    left = files.UNPACKED
    for count, entry in enumerate(entries):
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
            versions.append(_Version(entry, data, refused, chapter, inside))
        elif kind != "py" or refused:
            others.append(f"{names.shown(entry.name)} {refused or 'holds no exercise of the book'}")
    return versions, others


def _versions_of(chapter: str, versions: Sequence[_Version]) -> list[_Version]:
    """The versions of the sheet of a chapter: files that are it in the first place, else such as hold it too."""
    return [one for one in versions if chapter in one.main] or [one for one in versions if chapter in one.held]


def _notebooks(versions: Sequence[_Version]) -> Sequence[_Version]:
    """Those that are notebooks; where none is, all of them."""
    return [one for one in versions if names.suffix(one.entry.name) != "py"] or versions


def _last(versions: Sequence[_Version]) -> _Version | str:
    """The version that was handed in last, or why nobody can tell."""
    newest = max(one.order for one in versions)
    first = [one for one in versions if one.order == newest]
    latest = max(one.entry.time for one in first)
    first = _notebooks([one for one in first if latest - one.entry.time < _SAME_MOMENT])
    if len({(one.data, one.refused) for one in first}) > 1:
        told = ", ".join(names.shown("/".join(one.entry.parts)) for one in first[:3])
        return (
            f"{len(first)} files were handed in for it and nothing tells which is the last ({told}): keep one of them."
        )
    return first[-1]


def _attempts(versions: Sequence[_Version]) -> int:
    """How many versions were handed in, as far as is known: a learning system may give the last alone."""
    numbers = [number for one in versions if one.named for number in one.order if number <= _MOST_READ]
    return max([len({one.data for one in _notebooks(versions)}), *numbers])


def _and(chapters: Iterable[str]) -> str:
    return "the exercises of " + " and ".join(sorted(chapters))
