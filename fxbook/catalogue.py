"""What the library knows about an exercise (title, hints, where to read), as the press generated it, without torch."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import json
from collections.abc import Iterable
from importlib import resources

from fxbook import torch_here
from fxbook.showing import shown

# The folders of sheets: `03_replacement` for a chapter, `P1_one_model` for a project, which belongs to no chapter.
SHEETS = "[0-9P][0-9]_*"
_given: dict[str, int] = {}


@dataclasses.dataclass(frozen=True)
class About:
    """One exercise of the book.

    ``read`` is ``"chapter#anchor"``; ``answer`` is the name that is passed to check; ``torch`` is the oldest version on
    which the book's solution passes, or ``""`` if it passes on every version that was tried.
    """

    id: str
    title: str
    chapter: str = ""
    difficulty: int = 0
    minutes: int = 0
    hints: tuple[str, ...] = ()
    read: str = ""
    what_if: str = ""
    answer: str = ""
    torch: str = ""

    @property
    def needs_newer_torch(self) -> str:
        """The message for a learner whose torch is too old for the solution, or ``""``."""
        installed = torch_here.installed()
        if not self.torch or not installed or torch_here.minor(installed) >= torch_here.minor(self.torch):
            return ""
        return (
            f"The book's solution needs torch {self.torch} or newer, but this is torch {installed}: what the page "
            "teaches may not be true here."
        )


@functools.cache
def catalogue() -> dict[str, About]:
    """Every exercise by its id, in the order of the book; empty until the press has generated any."""
    source = resources.files("fxbook") / "exercises.json"
    if not source.is_file():
        return {}
    known = {field.name for field in dataclasses.fields(About)}
    entries = json.loads(source.read_text(encoding="utf-8"))
    return {
        name: About(**{"id": name, **{key: _field(value) for key, value in entry.items() if key in known}})
        for name, entry in entries.items()
    }


def numbered(sheet: str) -> str:
    """What a sheet belongs to, by its name or number: ``"chapter 03"``, ``"project P1"``."""
    number = sheet[:2]
    return f"{'chapter' if number.isdigit() else 'project'} {number}"


def of_chapters(exercises: Iterable[About] | None = None) -> dict[str, list[About]]:
    found: dict[str, list[About]] = {}
    for one in catalogue().values() if exercises is None else exercises:
        found.setdefault(one.chapter, []).append(one)
    return found


def _field(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def about(exercise_id: str) -> About:
    """The exercise with that id; if it has not been generated yet, the id is its title."""
    return catalogue().get(exercise_id) or About(exercise_id, exercise_id)


@functools.cache
def _sections() -> dict[str, dict[str, str]]:
    source = resources.files("fxbook") / "sections.json"
    return json.loads(source.read_text(encoding="utf-8")) if source.is_file() else {}


def headings() -> list[tuple[str, str]]:
    return [(f"{chapter}#{anchor}", text) for chapter, found in _sections().items() for anchor, text in found.items()]


def place(read: str) -> str:
    """A readable form of ``"chapter#anchor"``: the number of the chapter and the heading of the section.

    The companion of a chapter is ``"when_it_breaks/chapter#anchor"``.
    """
    page, _, anchor = read.partition("#")
    folder, _, chapter = page.rpartition("/")
    name = chapter.partition("_")[2]
    heading = _sections().get(page, {}).get(anchor, anchor.replace("-", " "))
    title = (folder or name).replace("_", " ")
    return f"{numbered(chapter)}, {title}" + (f", section “{heading}”" if anchor else "")


def row(one: About, solved: bool) -> str:
    """An exercise as a line of a list: solved or not, id, difficulty, minutes, title and the section it practises."""
    page, _, anchor = one.read.partition("#")
    trains = _sections().get(page, {}).get(anchor)
    told = " · ".join(filter(None, [one.title, trains]))
    return f"{'✓' if solved else '·'} {one.id:<28} {one.difficulty} of 3 {one.minutes:>3} min  {told}"


def has_place(read: str) -> bool:
    """Whether ``"chapter#anchor"`` is a heading of the book; true for any place until the headings are generated."""
    chapter, _, anchor = read.partition("#")
    return anchor in _sections().get(chapter, {}) or not _sections()


def unknown(exercise_id: object, known: list[str]) -> str:
    """The message for an unknown id, with similar ids."""
    if not isinstance(exercise_id, str):
        return f"An exercise is named by its id, a str like '01-relu-by-hand': got {type(exercise_id).__name__}."
    near = difflib.get_close_matches(exercise_id, known, 3, 0.4) or [i for i in known if i[:2] == exercise_id[:2]][:3]
    listed = ", ".join(repr(name) for name in near or known[:3])
    return f"There is no exercise {exercise_id!r}." + (f" Did you mean: {listed}?" if listed else "")


@dataclasses.dataclass(frozen=True)
class Hint:
    heading: str
    text: str

    def __repr__(self) -> str:
        return f"{self.heading}: {self.text}" if self.heading else self.text

    def _repr_markdown_(self) -> str:
        return f"**{self.heading}.** {self.text}" if self.heading else self.text


def hint(exercise_id: str) -> Hint:
    """The next hint of an exercise: the first call gives the first hint, the next call the second, and so on."""
    found = catalogue().get(exercise_id) if isinstance(exercise_id, str) else None
    if found is None:
        return shown(Hint("", unknown(exercise_id, list(catalogue()))))
    if not found.hints:
        return shown(Hint("", f"Exercise {exercise_id} has no hints."))
    asked, count = _given.get(exercise_id, 0), len(found.hints)
    _given[exercise_id] = asked + 1
    number = min(asked, count - 1)
    last = ", the last hint" if asked >= count else ""
    return shown(Hint(f"Hint {number + 1} of {count}{last}", found.hints[number]))
