"""Find the first wrong change of a pass with few calls to ``is_right``."""

from __future__ import annotations

import copy

from fxbook.cases import Check
from fxbook.rules.predicates import nothing_left
from fxbook.rules.returned import number_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import given_left_alone, observed


def first_bad(case: CaseView) -> int | None:
    """The number of the first change after which the module is wrong; ``None`` if it is right after all changes."""
    module, run, is_right, total = case.arguments
    for number in range(1, total + 1):
        candidate = copy.deepcopy(module)
        run(candidate, at_most=number)
        if not is_right(candidate):
            return number
    return None


@rule
def names_the_change(case: CaseView) -> Found:
    """The answer is the number of the first wrong change, or ``None``."""
    expected, answer = first_bad(case), observed(case, "returned")
    number = number_of(answer)
    total = case.arguments[3]
    if answer is None:
        if expected is not None:
            yield None, f"The answer is `None`, but change {expected} of {total} makes the module wrong."
    elif number is None:
        yield None, "The answer is neither a number nor `None`."
    elif expected is None:
        yield None, f"The answer is {number:g}, not `None`, but the module is right after all {total} changes."
    elif number < expected:
        still = f"after {number:g} of {total} changes the module is still right"
        yield None, f"The answer is {number:g}, but {still}: the first wrong change is {expected}."
    elif number > expected:
        yield None, f"The answer is {number:g}, but change {expected} of {total} already makes the module wrong."


@rule
def calls_are_few(case: CaseView) -> Found:
    """``is_right`` is called no more often than the task allows."""
    total, calls = case.arguments[3], number_of(observed(case, "calls"))
    most = total.bit_length() + 1
    if calls is not None and calls > most:
        enough = f"{most} calls are enough if you halve the range"
        yield None, f"`is_right` was called {calls:g} times for {total} changes: {enough}."


CHECK = Check((given_left_alone, nothing_left, names_the_change, calls_are_few))
