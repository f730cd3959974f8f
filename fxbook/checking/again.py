"""Use an answer whose result is wrong once more, to find where: this time the value of each node is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fxbook.cases.exercise import Exercise, drawn_order
from fxbook.cases.values import Value
from fxbook.checking.judge import Inside
from fxbook.observing.observation import UnreadableError, read
from fxbook.observing.prepare import Prepared, Probe, prepare

JSON = Any


def looking_inside(exercise: Exercise, seed: int, observed: Callable[[Prepared], JSON]) -> Inside:
    """What the nodes of an answer's graph compute, by using the answer anew.

    Args:
        exercise: what is asked.
        seed: under which the answer was used before.
        observed: uses the answer on what was prepared and returns its observation, ``None`` where it cannot again.
    """

    def inside(case: int, draw: int) -> list[Value] | None:
        try:
            seen = read(observed(prepare(exercise, seed, probe=Probe(case, draw))))
        except UnreadableError:
            return None
        place = drawn_order(exercise, seed).index(case)
        return seen.cases[place].inside if place < len(seen.cases) else None

    return inside
