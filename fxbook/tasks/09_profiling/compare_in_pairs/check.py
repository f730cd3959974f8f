"""Compare two calls in pairs."""

from __future__ import annotations

import itertools

from fxbook.cases import Check
from fxbook.rules.returned import numbers_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import A_CLOCK, close
from .cases import Drifting


@rule
def ratios_in_pairs(case: CaseView) -> Found:
    """One ratio for each round, from two adjacent runs in alternating order, and none from a first call."""
    machine = case.model
    returned, *calls = case.value["tuple"]
    ratios = numbers_of(returned)
    assert isinstance(machine, Drifting)
    rounds = machine.rounds
    if ratios is None:
        yield None, "The task asks for a list of numbers, one ratio for each round."
        return
    if len(ratios) != rounds:
        yield None, f"The list has {len(ratios)} ratios: `rounds` is {rounds}."
    ran = dict(zip(("first", "second"), calls, strict=True))
    if not any(calls):
        yield None, "Neither function ran after `clock` was read: measure with it."
    yield from _turned(ratios, machine)
    shares = [ratio / machine.ratio for ratio in ratios]
    far = [place for place, share in enumerate(shares) if not 0.2 < share < 5]
    if len(far) == rounds:
        yield None, f"None of the numbers is near the ratio of the two times: {ratios[0]:.3g}."
    for place in far:
        yield None, f"Ratio {place} is far from the others: it contains a first call.", A_CLOCK
    # A right answer may read the clock before it warms up.
    yield from _other_counts({name: often for name, often in ran.items() if often >= 2 * rounds - 1}, rounds)
    for place, share in enumerate(shares):
        if not _is_a_step(share, machine.drift):
            yield None, f"Ratio {place} compares runs that were not side by side: the machine slowed down between them."
    yield from _other_counts({name: often for name, often in ran.items() if often < rounds}, rounds)
    # The function that runs first is faster, by as much as the machine slows down meanwhile.
    first_ahead = [close(share, 1 / machine.drift) for share in shares]
    if any(before == after for before, after in itertools.pairwise(first_ahead)):
        if abs(2 * sum(first_ahead) - rounds) <= 1:
            yield None, "The same function runs first in two successive rounds: the order must alternate."
        yield None, f"`first` runs first in {sum(first_ahead)} of {rounds} rounds: the order must alternate."


def _other_counts(counts: dict[str, int], rounds: int) -> Found:
    for name, often in counts.items():
        yield None, f"`{name}` ran {often} times for {rounds} ratios: each runs once in a round."


def _turned(ratios: list[float], machine: Drifting) -> Found:
    """The ratios are of the second call to the first."""
    turned = [bool(ratio) and _is_a_step(1 / ratio / machine.ratio, machine.drift) for ratio in ratios]
    if all(turned):
        yield None, "The ratios are second / first: the task asks for first / second."
    for place, is_turned in enumerate(turned):
        if is_turned:
            yield None, f"Ratio {place} is second / first: the task asks for first / second, whichever ran first."


def _is_a_step(share: float, drift: float) -> bool:
    """Whether the machine slowed down once between the two."""
    return close(share, drift) or close(share, 1 / drift)


CHECK = Check((ratios_in_pairs,))
