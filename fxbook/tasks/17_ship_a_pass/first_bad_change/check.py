"""Find the first wrong change of a pass with few calls to ``is_right``."""

from __future__ import annotations

import copy

from fxbook.cases import Check
from fxbook.rules.returned import number_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import given_left_alone, told

HALVING = "17_ship_a_pass#halve-the-changes-of-a-pass"


def first_bad(case: CaseView) -> int | None:
    """The number of the first change after which the module is wrong, found by trying one after another."""
    module, run, is_right, total = case.arguments
    for number in range(1, total + 1):
        candidate = copy.deepcopy(module)
        run(candidate, at_most=number)
        if not is_right(candidate):
            return number
    return None


@rule(HALVING)
def names_the_change(case: CaseView) -> Found:
    """The answer is the number of the first wrong change, or ``None``."""
    wanted, answer = first_bad(case), told(case, "returned")
    number = number_of(answer)
    total = case.arguments[3]
    if answer is None:
        if wanted is not None:
            yield None, f"The answer is `None`, but change {wanted} of {total} makes the module wrong."
    elif number is None:
        yield None, "The answer is neither a number nor `None`."
    elif wanted is None:
        yield (
            None,
            f"The answer is {number:g}, but the module is right after all {total} changes, so `None` would be right.",
        )
    elif number != wanted:
        early = (
            f"after {number:g} of {total} changes the module is still right: change {wanted} is the first wrong change"
        )
        late = f"change {wanted} of {total} already makes the module wrong"
        yield None, f"The answer is {number:g}, but {late if number > wanted else early}."


@rule(HALVING)
def asks_seldom(case: CaseView) -> Found:
    """``is_right`` is called at most once more than bisection needs."""
    total, asked = case.arguments[3], number_of(told(case, "asked"))
    most = total.bit_length() + 1
    if asked is not None and asked > most:
        enough = f"{most} calls are enough if you halve the range"
        yield None, f"`is_right` was called {asked:g} times for {total} changes: {enough}."


CHECK = Check((given_left_alone, names_the_change, asks_seldom))
