"""What was made of right answers, and what became of it: how many each operator made, and how many were refused."""

from __future__ import annotations

import collections
from collections.abc import Collection, Iterable

from tests.mutation.operators import OPERATORS
from tests.mutation.trying import Trial

# What a test records for the table that is printed at the end.
PROPERTY = "mutants"
MADE, RIGHT, REFUSED, PASSED = "made", "right too", "refused", "passed"
Counts = dict[str, dict[str, int]]


def counts(trials: Iterable[Trial], right: Collection[str]) -> Counts:
    """By operator; ``right`` are the keys of the mutants that are listed as right."""
    counted: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for trial in trials:
        became = RIGHT if trial.mutant.key in right else PASSED if trial.survived else REFUSED
        counted[trial.mutant.operator].update((MADE, became))
    return {name: dict(counter) for name, counter in counted.items()}


def lines(several: Iterable[Counts]) -> list[str]:
    """One table of many, each operator with a line; at the end the sum, and how much of what is wrong was refused."""
    summed: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for each in several:
        for name, numbers in each.items():
            summed[name].update(numbers)
            summed["all"].update(numbers)
    columns = (MADE, RIGHT, REFUSED, PASSED)
    table = [f"{'operator':<36}" + "".join(f"{column:>11}" for column in columns)]
    for name in (*OPERATORS, "all"):
        if name in summed:
            table.append(f"{name:<36}" + "".join(f"{summed[name][column]:>11,}" for column in columns))
    wrong = summed["all"][REFUSED] + summed["all"][PASSED]
    if wrong:
        table.append(f"Of {wrong:,} that are wrong {summed['all'][REFUSED] / wrong:.2%} were refused.")
    return table
