"""Find answers that are more similar than the book and the class explain: a reason to look, never a verdict.

Normalised answers (:mod:`classroom.collect.normalise`) are compared by their sets of short runs of tokens, as in MOSS
(Schleimer, Wilkerson, Aiken: Winnowing, SIGMOD 2003), but with all runs, because answers are short. Runs from the stub,
the book's solution or many other answers are ignored. ``benchmarks/similarity.py`` measures how many honest pairs are
listed and how many copies are found. In that benchmark, two libraries did no better: RapidFuzz compares sequences, so
it misses a copy with reordered statements; copydetect (2024) works like this module, but its hashes differ in each run.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from classroom.collect.normalise import plain_answer
from classroom.grade.gradebook import EXERCISES
from classroom.grade.records import Mark
from fxbook.grading import About, sheets

Runs = frozenset[tuple[str, ...]]
_TOKEN = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|\w+|\S")
_RUN = 4
LEAST_OWN = 30
"""An answer with fewer unexplained runs is not compared: similarity of such short answers means nothing."""
LEAST_SHARE = 0.6
# A run is common if it is in more answers than this fraction of the class, with these bounds.
_COMMON, _FEWEST, _MOST = 5, 3, 15


@dataclasses.dataclass(frozen=True)
class Alike:
    """Two similar answers. ``share`` (0.6 to 1): the part of the longer answer's own runs that the other contains."""

    exercise: About
    share: float
    marks: tuple[Mark, Mark]


def alike(exercises: Sequence[About], marks: Iterable[Mark]) -> list[Alike]:
    of_exercise: dict[str, list[Mark]] = defaultdict(list)
    for mark in marks:
        if mark.plain:
            of_exercise[mark.exercise].append(mark)
    likenesses = [
        Alike(about, share, (of_exercise[about.id][first], of_exercise[about.id][second]))
        for about in exercises
        for (first, second), share in pairs([mark.plain for mark in of_exercise[about.id]], explained(about)).items()
    ]
    return sorted(likenesses, key=lambda likeness: -likeness.share)


def pairs(texts: Sequence[str], explained: Runs) -> Mapping[tuple[int, int], float]:
    """The similar pairs among normalised answers, by index, with their shares."""
    every = [runs(text) for text in texts]
    holders = Counter(itertools.chain.from_iterable(every))
    most = max(_FEWEST, min(_MOST, len(texts) // _COMMON))
    own = [{run for run in answer - explained if holders[run] <= most} for answer in every]
    homes: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at, answer in enumerate(own):
        if len(answer) >= LEAST_OWN:
            for run in answer:
                homes[run].append(at)
    shared = Counter(itertools.chain.from_iterable(itertools.combinations(at, 2) for at in homes.values()))
    shares = {
        (first, second): many / max(len(own[first]), len(own[second])) for (first, second), many in shared.items()
    }
    return {pair: share for pair, share in sorted(shares.items()) if share >= LEAST_SHARE}


def runs(text: str) -> Runs:
    tokens = _TOKEN.findall(text)
    return frozenset(zip(*(tokens[at:] for at in range(_RUN)), strict=False))


@functools.cache
def explained(about: About) -> Runs:
    """The runs that the book wrote itself, in the stub and the solution."""
    handed_out = _cells("exercises", about.chapter)
    solved = _cells("solutions", about.chapter)
    return runs(plain_answer(handed_out, (), about.answer)) | runs(plain_answer(solved, handed_out, about.answer))


@functools.cache
def _cells(folder: str, chapter: str) -> tuple[str, ...]:
    path: Path = EXERCISES.parent / folder / f"{chapter}.ipynb"
    return sheets.read(path).cells if path.is_file() else ()
