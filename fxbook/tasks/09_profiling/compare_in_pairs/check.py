"""Check ratios of the times of two functions, measured in pairs."""

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
    """One ratio for each round, from two adjacent calls whose order alternates, and none from a first call."""
    machine = case.model
    returned, *calls = case.value["tuple"]
    ratios = numbers_of(returned)
    assert isinstance(machine, Drifting)
    rounds = machine.rounds
    if ratios is None:
        yield None, "The answer is not a list of numbers, one ratio for each round."
        return
    if len(ratios) != rounds:
        yield None, f"The list has length {len(ratios)}, but `rounds` is {rounds}."
    ran = dict(zip(("first", "second"), calls, strict=True))
    if not any(calls):
        yield None, "Neither function ran after the first reading of `clock`: measure the times with it."
    yield from _inverted(ratios, machine)
    yield from _measured_together(ratios, machine)
    shares = [ratio / machine.ratio for ratio in ratios]
    far = [place for place, share in enumerate(shares) if not 0.2 < share < 5]
    if len(far) == rounds:
        yield None, f"No number in the list is close to the ratio of the two times: {ratios[0]:.3g}."
    for place in far:
        yield None, f"Ratio {place} is far from the others, because it contains a first call.", A_CLOCK
    # A count that is only a little higher is right: the answer may have read the clock before the first calls.
    yield from _wrong_counts({name: count for name, count in ran.items() if count >= 2 * rounds - 1}, rounds)
    if rounds > 1 and len(set(ratios)) == 1 and 1 / machine.drift < shares[0] < machine.drift:
        yield None, "All numbers in the list are the same, like an average: return the ratio of each round."
    for place, share in enumerate(shares):
        if not _is_a_step(share, machine.drift):
            yield None, f"Ratio {place} compares calls with other calls between them, which slowed the machine down."
    yield from _wrong_counts({name: count for name, count in ran.items() if count < rounds}, rounds)
    # The machine slows down during a round, so the function that runs first has an advantage.
    first_ahead = [close(share, 1 / machine.drift) for share in shares]
    if any(before == after for before, after in itertools.pairwise(first_ahead)):
        if abs(2 * sum(first_ahead) - rounds) <= 1:
            yield None, "The same function runs first in two successive rounds: the order should alternate."
        yield None, f"`first` runs first in {sum(first_ahead)} of {rounds} rounds: the order should alternate."


def _wrong_counts(counts: dict[str, int], rounds: int) -> Found:
    for name, count in counts.items():
        yield None, f"`{name}` ran {count} times in {rounds} rounds: each function should run once in a round."


def _inverted(ratios: list[float], machine: Drifting) -> Found:
    """Ratios of the second function's time to the first's."""
    inverted = [bool(ratio) and _is_a_step(1 / ratio / machine.ratio, machine.drift) for ratio in ratios]
    if all(inverted):
        yield None, "The ratios are second / first: they should be first / second."
    if True in inverted:
        place = inverted.index(True)
        yield None, f"Ratio {place} is second / first: it should be first / second, whichever function ran first."


def _measured_together(ratios: list[float], machine: Drifting) -> Found:
    """Ratios in which one of the two times contains the other."""
    for place, ratio in enumerate(ratios):
        if not ratio:
            continue
        for rest, both, alone in ((ratio - 1, "first", "second"), (1 / ratio - 1, "second", "first")):
            share = rest / machine.ratio if both == "first" else rest * machine.ratio
            if _is_a_step(share, machine.drift):
                yield None, f"In ratio {place}, the time of `{both}` contains the time of `{alone}`."


def _is_a_step(share: float, drift: float) -> bool:
    """Whether the two calls were adjacent: the machine slowed down once between them."""
    return close(share, drift) or close(share, 1 / drift)


CHECK = Check((ratios_in_pairs,))
