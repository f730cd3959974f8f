"""A teacher's hidden variants: the same exercise on more seeds, and on models that are not in the book."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping

from classroom.sandbox.inside.hidden import with_cases
from fxbook.grading import Exercise, catalogue, tasks, unknown

_MOST_SEEDS = 100


class HiddenError(Exception):
    """A file of hidden variants that cannot be used; the message says what to change."""


@dataclasses.dataclass(frozen=True)
class Hidden:
    """What the file holds.

    Args:
        seeds: of each further try on the public cases its seed, ``None`` for one that nobody chose.
        exercises: by id, the exercises on hidden cases in place of the public ones.
    """

    seeds: tuple[int | None, ...] = ()
    exercises: Mapping[str, Exercise] = dataclasses.field(default_factory=dict)


@functools.lru_cache(1)
def read(text: str) -> Hidden:
    """The hidden variants that a teacher's file describes; it is run here, as the teacher's own.

    Args:
        text: Python that may hold ``SEEDS``, a number or a list of seeds, and ``CASES``, of exercise ids tuples of
            :class:`fxbook.cases.Case`; see :class:`classroom.assignment.Assignment`.

    Raises:
        HiddenError: it raises, or holds something else.
    """
    if not text:
        return Hidden()
    names: dict[str, object] = {"__name__": "hidden"}
    try:
        exec(compile(text, "<hidden variants>", "exec"), names)
    except Exception as error:
        raise HiddenError(f"The file of hidden variants raises {type(error).__name__}: {error}") from error
    cases = names.get("CASES", {})
    if not isinstance(cases, dict):
        raise HiddenError("CASES of the hidden variants is no dict: give of each exercise id a tuple of Case.")
    exercises = {}
    for name in cases:
        exercise = tasks.find(str(name))
        if exercise is None:
            raise HiddenError(f"CASES of the hidden variants: {unknown(name, list(catalogue()))}")
        try:
            exercises[name] = with_cases(exercise, text)
        except Exception as error:
            raise HiddenError(f"The hidden variants of {name} cannot be used: {error}") from error
    return Hidden(_seeds(names.get("SEEDS", 0)), exercises)


def _seeds(given: object) -> tuple[int | None, ...]:
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= _MOST_SEEDS:
        return (None,) * given
    if isinstance(given, tuple | list) and len(given) <= _MOST_SEEDS:
        seeds = tuple(seed for seed in given if type(seed) is int and 0 <= seed < 2**31)
        if len(seeds) == len(given):
            return seeds
    raise HiddenError(
        f"SEEDS = {given!r} of the hidden variants: give how many, up to {_MOST_SEEDS}, or a list of them."
    )
