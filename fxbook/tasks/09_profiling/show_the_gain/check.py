"""Check a comparison of two modules: the ratio of their FLOPs, and the ratios of their times with the spread."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from fxbook.cases import Check
from fxbook.cases.running import one_thread
from fxbook.cases.values import Value
from fxbook.rules.returned import number_of, numbers_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import close
from .cases import LONG, LONGEST, SHORT, SHORTEST, Products

IN_PAIRS = "09_profiling#two-models-are-compared-in-pairs"


@one_thread()
def total_flops(module: nn.Module, *inputs: Any) -> int:
    """The FLOPs of one call."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(*inputs)
    return counter.get_total_flops()


def gain_of(case: CaseView) -> dict[str, Value] | None:
    """The dict that the answer returned, or ``None`` if it does not have the two required keys."""
    table = table_of(case.value["tuple"][0])
    return table if table is not None and set(table) == {"flops", "time"} else None


def times_of(case: CaseView) -> list[float] | None:
    """The numbers under ``"time"``, or ``None`` if they are not numbers."""
    return numbers_of((gain_of(case) or {}).get("time"))


@rule
def ratio_of_flops(case: CaseView) -> Found:
    """The answer is a dict with two keys, and ``"flops"`` is the FLOPs of ``before`` divided by those of ``after``."""
    gain = gain_of(case)
    if gain is None:
        yield None, "The answer is not a dict with the keys 'flops' and 'time'."
        return
    before, after, inputs, _ = case.arguments
    expected = total_flops(before, *inputs) / total_flops(after, *inputs)
    flops = number_of(gain["flops"])
    if flops is None or not close(flops, expected):
        inverted = flops is not None and close(flops, 1 / expected)
        found = "not a number" if flops is None else f"{flops:.4g}"
        why = "is after / before: it should be before / after" if inverted else "is not before / after"
        yield None, f"`flops` {why}: {found} instead of {expected:.4g}.", "09_profiling#work-can-be-counted"


@rule
def three_numbers(case: CaseView) -> Found:
    """``"time"`` holds three different numbers in increasing order."""
    times = times_of(case)
    if times is None or len(times) != 3:
        yield None, "`time` should hold three numbers: the lower decile, the median and the upper decile."
    elif min(times) <= 0:
        yield None, f"`time` contains {min(times):.3g}, but a ratio of times is above 0.", IN_PAIRS
    elif not times[0] <= times[1] <= times[2]:
        yield None, "The three numbers in `time` are not in this order: lower decile, median, upper decile."
    elif times[0] == times[2]:
        yield None, "The three numbers in `time` are equal: a single ratio has no spread.", IN_PAIRS


@rule
def twenty_rounds(case: CaseView) -> Found:
    """Each module is timed 20 times or more, one call at a time, with ``clock``, without gradients or a counter."""
    _, before, after, with_gradients, under_a_mode, readings, _, untimed = case.value["tuple"]
    if not readings:
        yield None, "`clock` was never read: measure the times with it."
    if min(before, after) < 20:
        name, count = min(("before", before), ("after", after), key=lambda pair: pair[1])
        yield None, f"Single calls to `{name}` were timed {count} times: take at least 20 rounds.", IN_PAIRS
    if with_gradients:
        place = "09_profiling#who-asks-for-gradients"
        yield None, "The timed calls ran with gradients: time them without.", place
    if under_a_mode:
        slower = "The timed calls ran under a `FlopCounterMode`, which makes every operation slower: count separately."
        yield None, slower, "09_profiling#work-can-be-counted"
    if untimed >= 10:
        yield None, f"{untimed} calls between the timed ones were not timed: a round calls each module once.", IN_PAIRS


@rule
def median_with_deciles(case: CaseView) -> Found:
    """The three numbers are the deciles and the median of the ratios of adjacent calls."""
    model = case.model
    assert isinstance(model, Products)
    low, middle, high = (time / model.slower for time in times_of(case) or ())
    if not _about(1.0, middle):
        if _about(1 / model.slower**2, middle):
            yield None, "`time` is after / before: it should be before / after.", IN_PAIRS
        in_a_row = case.value["tuple"][6]
        if in_a_row >= 10:
            yield None, f"One module was timed {in_a_row} times in a row: a round calls each module once.", IN_PAIRS
        number = f"{model.slower * middle:.3g} instead of about {model.slower:.3g}"
        yield None, f"The middle number of `time` is not the median of paired ratios: {number}.", IN_PAIRS
    yield from _no_decile("first", low, SHORT, SHORTEST, "smallest")
    yield from _no_decile("last", high, LONG, LONGEST, "largest")


def _no_decile(place: str, number: float, decile: float, extreme: float, which: str) -> Found:
    if _about(extreme, number):
        yield None, f"The {place} number of `time` is the {which} ratio, not a decile.", IN_PAIRS
    elif abs(number - 1) < 0.9 * abs(decile - 1):
        beyond = f"The {place} number of `time` is not a decile of paired ratios: far more than a tenth lie beyond it."
        yield None, beyond, IN_PAIRS
    elif not _about(decile, number):
        yield None, f"The {place} number of `time` is not a decile of the ratios.", IN_PAIRS


def _about(expected: float, number: float) -> bool:
    """Whether two numbers differ by no more than two adjacent calls do because the machine slows down."""
    return abs(number / expected - 1) < 0.04


CHECK = Check((ratio_of_flops, three_numbers, twenty_rounds, median_with_deciles))
