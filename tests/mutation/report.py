"""Report the mutants of solutions: how many each operator made, how many were rejected, and which survived."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tests.mutation.operators import OPERATORS
from tests.mutation.trying import Trial


class Row(NamedTuple):
    """A mutant as text, and the rule that rejected it."""

    exercise: str
    operator: str
    change: str
    refused_by: str


def rows(trials: Iterable[Trial]) -> list[Row]:
    return [
        Row(one.mutant.program.exercise, one.mutant.operator, one.mutant.change(), one.refused_by) for one in trials
    ]


def table(rows: Iterable[Row]) -> list[str]:
    """One line per operator, and a line with the totals."""
    made: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for row in rows:
        made.update((row.operator, "all"))
        refused.update((row.operator, "all") if row.refused_by else ())
    lines = [f"{'operator':<36}{'made':>9}{'rejected':>9}{'survived':>9}"]
    for name in (*OPERATORS, "all"):
        if made[name]:
            lines.append(f"{name:<36}{made[name]:>9,}{refused[name]:>9,}{made[name] - refused[name]:>9,}")
    return lines


def survivors(rows: Iterable[Row]) -> list[str]:
    """The mutants that passed, each with its exercise, operator and change."""
    return [f"{row.exercise}: {row.operator}: {row.change}" for row in rows if not row.refused_by]
