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
    """What the answer returned, if it has the required form; ``measured`` returns it with what was observed."""
    table = table_of(case.value["tuple"][0])
    return table if table is not None and set(table) == {"flops", "time"} else None


def times_of(case: CaseView) -> list[float] | None:
    """The numbers that the answer gives for time."""
    return numbers_of((gain_of(case) or {}).get("time"))


@rule
def ratio_of_flops(case: CaseView) -> Found:
    """A dict of two, with the FLOPs of ``before`` divided by those of ``after``."""
    gain = gain_of(case)
    if gain is None:
        yield None, "The task asks for a dict with the keys 'flops' and 'time'."
        return
    before, after, inputs, _ = case.arguments
    wanted = total_flops(before, *inputs) / total_flops(after, *inputs)
    flops = number_of(gain["flops"])
    if flops is None or not close(flops, wanted):
        turned = flops is not None and close(flops, 1 / wanted)
        said = "not a number" if flops is None else f"{flops:.4g}"
        why = "is after / before: the task asks for before / after" if turned else "is not the ratio before / after"
        yield None, f"`flops` {why}: {wanted:.4g}; your answer is {said}.", "09_profiling#work-can-be-counted"


@rule
def three_numbers(case: CaseView) -> Found:
    """Three numbers in increasing order."""
    times = times_of(case)
    if times is None or len(times) != 3:
        yield None, "`time` must hold three numbers: the lower decile, the median and the upper decile."
    elif not 0 < times[0] <= times[1] <= times[2]:
        yield None, "The three numbers of `time` are not in order: lower decile, median, upper decile."
    elif times[0] == times[2]:
        yield None, "The three numbers of `time` are equal: one ratio has no spread.", IN_PAIRS


@rule
def twenty_rounds(case: CaseView) -> Found:
    """Each module is timed by itself 20 times or more, on the clock of the check, with no gradients and no counter."""
    _, before, after, with_gradients, under_a_mode, looks = case.value["tuple"]
    if not looks:
        yield None, "`clock` was never read: measure with it."
    if min(before, after) < 20:
        name, often = min(("before", before), ("after", after), key=lambda pair: pair[1])
        yield None, f"You timed single calls to `{name}` {often} times: the task asks for at least 20 rounds.", IN_PAIRS
    if with_gradients:
        recording = "The timed calls run with gradients: time them without."
        yield None, recording, "09_profiling#who-asks-for-gradients"
    if under_a_mode:
        slower = "The timed calls run under a `FlopCounterMode`, which makes every operation slower: count separately."
        yield None, slower, A_CLOCK


@rule
def median_with_deciles(case: CaseView) -> Found:
    """The deciles and the median of the ratios of calls side by side; the check knows them."""
    model = case.model
    assert isinstance(model, Products)
    low, middle, high = (time / model.slower for time in times_of(case) or ())
    if not _about(1.0, middle):
        if _about(1 / model.slower**2, middle):
            yield None, "`time` is after / before: the task asks for before / after.", IN_PAIRS
        yield (
            None,
            f"The middle number of `time` is not the median of paired ratios: {model.slower * middle:.3g}.",
            IN_PAIRS,
        )
    yield from _no_decile("first", low, SHORT, SHORTEST, "smallest")
    yield from _no_decile("last", high, LONG, LONGEST, "largest")


def _no_decile(place: str, number: float, decile: float, extreme: float, which: str) -> Found:
    if _about(extreme, number):
        yield None, f"The {place} number of `time` is the {which} ratio, not a decile.", A_CLOCK
    elif abs(number - 1) < 0.9 * abs(decile - 1):
        beyond = f"The {place} number of `time` is not a decile: far more than a tenth of the ratios lie beyond it."
        yield None, beyond, A_CLOCK
    elif not _about(decile, number):
        yield None, f"The {place} number of `time` is not a decile of the ratios.", A_CLOCK


def _about(wanted: float, number: float) -> bool:
    """Whether two numbers differ by no more than the machine slows down between two adjacent calls."""
    return abs(number / wanted - 1) < 0.04


CHECK = Check((ratio_of_flops, three_numbers, twenty_rounds, median_with_deciles))
