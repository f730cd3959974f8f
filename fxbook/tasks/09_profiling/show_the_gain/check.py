"""Show what was gained: a ratio of FLOPs, and ratios of time with their spread."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from fxbook.cases import Check
from fxbook.cases.values import Value
from fxbook.rules.returned import number_of, numbers_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import A_CLOCK, close, one_thread
from .cases import LONG, LONGEST, SHORT, SHORTEST, Products

IN_PAIRS = "09_profiling#two-models-are-compared-in-pairs"


@one_thread()
def total_flops(module: nn.Module, *inputs: Any) -> int:
    """FLOPs of one call."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(*inputs)
    return counter.get_total_flops()


def gain_of(case: CaseView) -> dict[str, Value] | None:
    """What the answer returned, if it has the form that was asked; ``measured`` gives it with what was seen of it."""
    table = table_of(case.value["tuple"][0])
    return table if table is not None and set(table) == {"flops", "time"} else None


def times_of(case: CaseView) -> list[float] | None:
    """The numbers that the answer has for time."""
    return numbers_of((gain_of(case) or {}).get("time"))


@rule
def ratio_of_flops(case: CaseView) -> Found:
    """A dict of two, with the FLOPs of ``before`` over those of ``after``."""
    gain = gain_of(case)
    if gain is None:
        yield None, "A dict with the keys 'flops' and 'time' was asked."
        return
    before, after, inputs, _ = case.arguments
    wanted = total_flops(before, *inputs) / total_flops(after, *inputs)
    flops = number_of(gain["flops"])
    if flops is None or not close(flops, wanted):
        turned = flops is not None and close(flops, 1 / wanted)
        differs = (
            "is after / before: before / after was asked." if turned else f"is {wanted:.4g}, FLOPs before / after."
        )
        said = "" if turned or flops is None else f" You say {flops:.4g}."
        yield None, f"`flops` {differs}{said}", "09_profiling#work-can-be-counted"


@rule
def three_numbers(case: CaseView) -> Found:
    """Three numbers that rise."""
    times = times_of(case)
    if times is None or len(times) != 3:
        yield None, "`time` was to be three numbers: the lower decile, the median and the upper decile."
    elif not 0 < times[0] <= times[1] <= times[2]:
        yield None, "The three numbers of `time` are not in order: lower decile, median, upper decile were asked."
    elif times[0] == times[2]:
        yield None, "The three numbers of `time` are equal: one ratio is no spread.", IN_PAIRS


@rule
def twenty_rounds(case: CaseView) -> Found:
    """Each module is timed by itself 20 times or more, on the clock of the check, with no gradients and no counter."""
    _, before, after, with_gradients, under_a_mode, looks = case.value["tuple"]
    if not looks:
        yield None, "`clock` was never read: the seconds were to be those that it gives."
    if min(before, after) < 20:
        name, often = min(("before", before), ("after", after), key=lambda pair: pair[1])
        count = f"{often or 'None'} of your times {'are' if often > 1 else 'is'}"
        few = f"{count} of one call of `{name}` alone: at least 20 were asked, one a round."
        yield None, few, IN_PAIRS
    if with_gradients:
        asking = "The calls that were timed ask for gradients: they were not to."
        yield None, asking, "09_profiling#who-asks-for-gradients"
    if under_a_mode:
        slower = "The calls that were timed run under a `FlopCounterMode`, which makes every operation slower"
        yield None, f"{slower}: count in calls of their own.", A_CLOCK


@rule
def median_with_deciles(case: CaseView) -> Found:
    """The deciles and the median of the ratios of calls side by side; the check knows them."""
    model = case.model
    assert isinstance(model, Products)
    low, middle, high = (time / model.slower for time in times_of(case) or ())
    if not _about(1.0, middle):
        if _about(1 / model.slower**2, middle):
            yield None, "`time` is after / before: ratios of time before / time after were asked.", IN_PAIRS
        yield None, "The middle number of `time` is not the median of ratios of calls side by side.", IN_PAIRS
    yield from _no_decile("first", low, SHORT, SHORTEST, "smallest")
    yield from _no_decile("last", high, LONG, LONGEST, "largest")


def _no_decile(place: str, number: float, decile: float, extreme: float, which: str) -> Found:
    if _about(extreme, number):
        yield None, f"The {place} number of `time` is the {which} ratio: a decile was asked.", A_CLOCK
    elif abs(number - 1) < 0.9 * abs(decile - 1):
        beyond = f"The {place} number of `time` is no decile: far more than a tenth of the ratios lie beyond it."
        yield None, beyond, A_CLOCK
    elif not _about(decile, number):
        yield None, f"The {place} number of `time` is not a decile of the ratios.", A_CLOCK


def _about(wanted: float, number: float) -> bool:
    """Within what the machine slows down between two calls side by side."""
    return abs(number / wanted - 1) < 0.04


CHECK = Check((ratio_of_flops, three_numbers, twenty_rounds, median_with_deciles))
