"""What the exercises of chapter 09 demand of a comparison: calls side by side, and a ratio told with its spread."""

from __future__ import annotations

import itertools

from fxbook.asking.rule import Violation
from fxbook.asking.values import Value
from fxbook.asking.view import CaseView
from fxbook.checks.flops_09 import total_flops
from fxbook.checks.machine_09 import LONG, LONGEST, SHORT, SHORTEST, Drifting, Products
from fxbook.checks.properties_09 import close, number, numbers, table

_HERE = "09_profiling"
_FIRST = f"{_HERE}#a-clock-around-every-node"
_PAIRS = f"{_HERE}#two-models-are-compared-in-pairs"
_WORK = f"{_HERE}#work-can-be-counted"


def ratios_in_pairs(case: CaseView) -> Violation | None:
    """One ratio for each round, each of two runs side by side, in orders that alternate, and none of a first call."""
    machine = case.model
    assert isinstance(machine, Drifting)
    ratio, drift = machine.ratio, machine.drift
    found = numbers(case.value)
    rounds = case.arguments[2]
    if found is None:
        return Violation("A list of numbers was asked, one ratio for each round.")
    if len(found) != rounds:
        return Violation(f"The list has {len(found)} ratios: {rounds} rounds were asked.")
    steps = [value / ratio for value in found]
    if all(value and _near(1 / value, ratio, drift) for value in found):
        return Violation("The ratios are second / first: first / second was asked.")
    turned = next((index for index, value in enumerate(found) if value and _near(1 / value, ratio, drift)), None)
    if turned is not None:
        return Violation(f"Ratio {turned} is second / first: first / second was asked, whichever of them ran first.")
    contaminated = next((i for i, step in enumerate(steps) if step > 5 or step < 0.2), None)
    if contaminated is not None:
        return Violation(f"Ratio {contaminated} is far from the others: a first call is in it.", look=_FIRST)
    apart = next((i for i, step in enumerate(steps) if not (close(step, drift) or close(step, 1 / drift))), None)
    if apart is not None:
        message = f"Ratio {apart} is not of two runs side by side: between them this machine had slowed down."
        return Violation(message)
    ahead = [close(step, 1 / drift) for step in steps]
    if any(before == after for before, after in itertools.pairwise(ahead)):
        message = f"`first` runs first in {sum(ahead)} of {rounds} rounds: the order was to alternate."
        if abs(2 * sum(ahead) - rounds) <= 1:
            message = "The same one runs first in two rounds that follow each other: the order was to alternate."
        return Violation(message)
    return None


def _near(value: float, ratio: float, drift: float) -> bool:
    return close(value / ratio, drift) or close(value / ratio, 1 / drift)


def _gain(case: CaseView) -> dict[str, Value] | None:
    """What the answer returned, if it has the form that was asked; ``measured`` gives it with what was seen of it."""
    found = table(case.value["tuple"][0])
    return found if found is not None and set(found) == {"flops", "time"} else None


def ratio_of_flops(case: CaseView) -> Violation | None:
    """A dict of two, with the FLOPs of ``before`` over those of ``after``."""
    found = _gain(case)
    if found is None:
        return Violation("A dict with the keys 'flops' and 'time' was asked.")
    before, after, x, _ = case.arguments
    wanted = total_flops(before, x) / total_flops(after, x)
    flops = number(found["flops"])
    if flops is None or not close(flops, wanted):
        turned = flops is not None and close(flops, 1 / wanted)
        said = "is after / before: before / after was asked." if turned else "is not FLOPs before / FLOPs after."
        return Violation(f"`flops` {said}", look=_WORK)
    return None


def three_numbers(case: CaseView) -> Violation | None:
    """Three numbers that rise."""
    times = numbers((_gain(case) or {}).get("time"))
    if times is None or len(times) != 3:
        return Violation("`time` was to be three numbers: the lower decile, the median and the upper decile.")
    if not 0 < times[0] <= times[1] <= times[2]:
        return Violation("The three numbers of `time` are not in order: lower decile, median, upper decile were asked.")
    if times[0] == times[2]:
        return Violation("The three numbers of `time` are equal: one ratio is no spread.", look=_PAIRS)
    return None


def twenty_rounds(case: CaseView) -> Violation | None:
    """Each module is timed by itself 20 times or more, on the clock of the check, without gradients."""
    _, first, second, with_gradients, looks = case.value["tuple"]
    if not looks:
        return Violation("`clock` was never read: the seconds were to be those that it gives.")
    if min(first, second) < 20:
        name, often = min(("before", first), ("after", second), key=lambda pair: pair[1])
        message = f"`{name}` was timed by itself {often} times: at least 20 rounds were asked, each with one call."
        return Violation(message, look=_PAIRS)
    if with_gradients:
        message = "The calls that were timed ask for gradients: they were not to."
        return Violation(message, look=f"{_HERE}#who-asks-for-gradients")
    return None


def median_with_deciles(case: CaseView) -> Violation | None:
    """The deciles and the median of the ratios of calls side by side; the check knows them."""
    model = case.model
    assert isinstance(model, Products)
    low, middle, high = (time / model.slower for time in numbers((_gain(case) or {})["time"]) or ())
    if _about(1 / model.slower**2, middle) and not _about(1.0, middle):
        return Violation("`time` is after / before: ratios of time before / time after were asked.", look=_PAIRS)
    if not _about(1.0, middle):
        message = "The middle number of `time` is not the median of ratios of calls side by side."
        return Violation(message, look=_PAIRS)
    for which, found, wanted, extreme, part in (
        ("first", low, SHORT, SHORTEST, "smallest"),
        ("last", high, LONG, LONGEST, "largest"),
    ):
        if _about(extreme, found):
            return Violation(f"The {which} number of `time` is the {part} ratio: a decile was asked.", look=_FIRST)
        if abs(found - 1) < 0.9 * abs(wanted - 1):
            message = f"The {which} number of `time` is no decile: far more than a tenth of the ratios lie beyond it."
            return Violation(message, look=_FIRST)
        if not _about(wanted, found):
            return Violation(f"The {which} number of `time` is not a decile of the ratios.", look=_FIRST)
    return None


def _about(wanted: float, found: float) -> bool:
    """Within what the machine slows down between two calls side by side."""
    return abs(found / wanted - 1) < 0.04
