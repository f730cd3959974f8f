"""The rooms of ``make prove``: the tests that ``make test`` leaves out.

A room consists of whole folders of tests, which are listed here, and of tests elsewhere that have its marker,
``@pytest.mark.room(name="site")``. Every other test belongs to ``make test``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from press import ROOT


@dataclasses.dataclass(frozen=True)
class Room:
    """A part of ``make prove``: what it adds, its minutes on two idle cores, and the folders that it runs whole."""

    adds: str
    minutes: int
    folders: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.adds}; about {self.minutes} minutes on two idle cores"


ROOMS = {
    "checking": Room("every right and wrong answer: its report, and the case in which a wrong one fails", 3),
    "mutants": Room("the slightly wrong versions of every solution, and which of them pass", 7, ("tests/mutation",)),
    "classroom": Room(
        "handing out, the sandbox and its attacks, the judge, grading, exports, a hub, Dask", 10, ("classroom/tests",)
    ),
    "site": Room("every page in a browser, in both themes and on a phone; steppers and drawings in a browser", 5),
    "passes": Room("the passes of the chapters one by one, and on random graphs", 2, ("tests/operating",)),
    "lab": Room("20,000 sequences of edits in both the graph lab and torch.fx; faults in the lab's rules", 12),
    "models": Room(
        "the finished passes on models of transformers, and passes of other packages",
        4,
        ("tests/architectures", "tests/wild"),
    ),
    "versions": Room(
        "other versions of torch: the record, and the environments they run in; the wheels, installed",
        2,
        ("tests/versions",),
    ),
    "editions": Room("the complete PDF and EPUB", 3, ("extras/editions/tests",)),
    "cold": Room(
        "notebooks and drawings made again; answers and passes with new random numbers each time", 15, ("tests/cold",)
    ),
}


def room_of(path: Path) -> str:
    place = path.relative_to(ROOT) if path.is_relative_to(ROOT) else PurePosixPath(path)
    for name, room in ROOMS.items():
        if any(place.is_relative_to(folder) for folder in room.folders):
            return name
    return ""


def arguments_of_test() -> list[str]:
    return ["-m", "not room", *_without(ROOMS)]


def arguments_of_room(wanted: str) -> list[str]:
    """The arguments with which pytest runs the tests of a room; raises KeyError if there is no such room."""
    others = [name for name in ROOMS if ROOMS[name] is not ROOMS[wanted]]
    return ["-m", f"room(name='{wanted}')", *_without(others)]


def names_tests(arguments: Sequence[str]) -> bool:
    """Whether pytest's arguments name tests by file; such tests run whatever their room."""
    return any(
        one.partition("::")[0].startswith(("tests", "classroom", "extras", "chapters", "solutions"))
        for one in arguments
    )


def _without(rooms: Iterable[str]) -> Iterator[str]:
    return (f"--ignore={folder}" for name in rooms for folder in ROOMS[name].folders)
