"""Run a wrong answer again and record the value of each node, to find where it goes wrong."""

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
    """Compute the values of the nodes of an answer's graph on demand, by running the answer again.

    ``observed`` runs the answer on the prepared cases and returns its observation, or ``None`` if it cannot run again.
    """

    def inside(case: int, draw: int) -> list[Value] | None:
        try:
            seen = read(observed(prepare(exercise, seed, probe=Probe(case, draw))))
        except UnreadableError:
            return None
        place = drawn_order(exercise, seed).index(case)
        return seen.cases[place].inside if place < len(seen.cases) else None

    return inside
