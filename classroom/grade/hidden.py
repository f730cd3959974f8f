"""Hidden variants: the exercises of an assignment on more seeds and on models that are not in the book."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping

from classroom.sandbox.inside.hidden import with_cases
from fxbook.grading import Exercise, catalogue, tasks, unknown

_MOST_SEEDS = 100


class HiddenError(Exception):
    """An unusable file of hidden variants; the message says what to change."""


@dataclasses.dataclass(frozen=True)
class Hidden:
    """The content of the file.

    Args:
        seeds: the seeds for more runs of the public cases; ``None`` stands for a seed that the grader derives.
        exercises: the exercises with hidden cases in place of the public ones, by id.
    """

    seeds: tuple[int | None, ...] = ()
    exercises: Mapping[str, Exercise] = dataclasses.field(default_factory=dict)


@functools.lru_cache(1)
def read(text: str) -> Hidden:
    """Run the teacher's own file of hidden variants, unconfined, and check its content.

    Args:
        text: Python that may define ``SEEDS`` (a number or a list of seeds) and ``CASES`` (tuples of
            :class:`fxbook.cases.Case` by exercise id); see :class:`classroom.assignment.Assignment`.

    Raises:
        HiddenError: it raises an error, or defines something else.
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
        raise HiddenError("CASES in the hidden variants is not a dict: map each exercise id to a tuple of Case.")
    exercises = {}
    for name in cases:
        exercise = tasks.find(str(name))
        if exercise is None:
            raise HiddenError(f"CASES in the hidden variants: {unknown(name, list(catalogue()))}")
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
        f"SEEDS = {given!r} in the hidden variants: give a number up to {_MOST_SEEDS}, or a list of seeds."
    )
