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
    """One ratio for each round, each of two runs side by side, in orders that alternate, and none of a first call."""
    machine = case.model
    returned, *calls = case.value["tuple"]
    ratios = numbers_of(returned)
    assert isinstance(machine, Drifting)
    rounds = machine.rounds
    if ratios is None:
        yield None, "A list of numbers was asked, one ratio for each round."
        return
    if len(ratios) != rounds:
        yield None, f"The list has {len(ratios)} ratios: {rounds} rounds were asked."
    ran = dict(zip(("first", "second"), calls, strict=True))
    if not any(calls):
        yield None, "Nothing ran after `clock` was read: the seconds were to be those that it gives."
    yield from _turned(ratios, machine)
    shares = [ratio / machine.ratio for ratio in ratios]
    for place, share in enumerate(shares):
        if share > 5 or share < 0.2:
            yield None, f"Ratio {place} is far from the others: a first call is in it.", A_CLOCK
    # A right answer may read the clock before it warms up.
    yield from _other_counts({name: often for name, often in ran.items() if often >= 2 * rounds - 1}, rounds)
    for place, share in enumerate(shares):
        if not _is_a_step(share, machine.drift):
            yield None, f"Ratio {place} is not of two runs side by side: between them this machine had slowed down."
    yield from _other_counts({name: often for name, often in ran.items() if often < rounds}, rounds)
    # Whoever runs first is faster, by what the machine slows down meanwhile.
    first_ahead = [close(share, 1 / machine.drift) for share in shares]
    if any(before == after for before, after in itertools.pairwise(first_ahead)):
        if abs(2 * sum(first_ahead) - rounds) <= 1:
            yield None, "The same one runs first in two rounds that follow each other: the order was to alternate."
        yield None, f"`first` runs first in {sum(first_ahead)} of {rounds} rounds: the order was to alternate."


def _other_counts(counts: dict[str, int], rounds: int) -> Found:
    for name, often in counts.items():
        yield None, f"`{name}` ran {often} times for {rounds} ratios: in a round each was to run once."


def _turned(ratios: list[float], machine: Drifting) -> Found:
    """Ratios of the second call to the first."""
    turned = [bool(ratio) and _is_a_step(1 / ratio / machine.ratio, machine.drift) for ratio in ratios]
    if all(turned):
        yield None, "The ratios are second / first: first / second was asked."
    for place, is_turned in enumerate(turned):
        if is_turned:
            yield None, f"Ratio {place} is second / first: first / second was asked, whichever of them ran first."


def _is_a_step(share: float, drift: float) -> bool:
    """Whether the machine slowed down once between the two."""
    return close(share, drift) or close(share, 1 / drift)


CHECK = Check((ratios_in_pairs,))
