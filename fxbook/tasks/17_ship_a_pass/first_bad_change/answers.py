"""Answers to 17-first-bad-change: bisect the changes of a pass."""

import bisect
import copy
import math

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

LEFT = "17_ship_a_pass#what-a-pass-must-keep-is-a-list-of-functions"


def changed(module, run, number):
    draft = copy.deepcopy(module)
    run(draft, at_most=number)
    return draft


def bisected(module, run, is_right, low, high):
    """The first wrong change, if the module is right after ``low`` changes and wrong after ``high``."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_right(changed(module, run, middle)) else (low, middle)
    return high


@right
def moves_two_ends(module, run, is_right, total):
    found = bisected(module, run, is_right, 0, total + 1)
    return found if found <= total else None


class Wrong:
    """A sequence that says for each change whether the module is wrong after it."""

    def __init__(self, module, run, is_right, total):
        self.module, self.run, self.is_right, self.total = module, run, is_right, total

    def __len__(self):
        return self.total

    def __getitem__(self, place):
        return not self.is_right(changed(self.module, self.run, place + 1))


@right
def bisects_a_sequence(module, run, is_right, total):
    place = bisect.bisect_left(Wrong(module, run, is_right, total), True)
    return place + 1 if place < total else None


@right
def restores_the_given_module(module, run, is_right, total):
    def is_wrong(number):
        former, weights = module.graph, copy.deepcopy(module.state_dict())
        module.graph = copy.deepcopy(former)
        run(module, at_most=number)
        wrong_now = not is_right(module)
        module.graph = former
        module.load_state_dict(weights)
        return wrong_now

    number = bisect.bisect(range(total), False, key=lambda place: is_wrong(place + 1)) + 1
    return number if number <= total else None


@right
def keeps_right_changes(module, run, is_right, total):
    """Makes the next changes on top of those that were right."""
    kept, done, left = copy.deepcopy(module), 0, total
    if is_right(changed(module, run, total)):
        return None
    while left > 1:
        half = left // 2
        draft = copy.deepcopy(kept)
        run(draft, at_most=half)
        if is_right(draft):
            kept, done, left = draft, done + half, left - half
        else:
            left = half
    return done + 1


@breaks("Call `is_right` at most `total.bit_length() + 1` times.", case="a block of GPT-2")
@wrong("calls_are_few", says="calls are enough if you halve the range")
def tries_all(module, run, is_right, total):
    for number in range(1, total + 1):
        if not is_right(changed(module, run, number)):
            return number
    return None


@breaks("counted from 1,", case="a block of GPT-2")
@wrong("names_the_change", says="changes the module is still right: the first wrong change is")
def counts_from_zero(module, run, is_right, total):
    found = moves_two_ends(module, run, is_right, total)
    return None if found is None else found - 1


@breaks("Return the number of the first faulty change,", case="the first change")
@wrong("names_the_change", says="already makes the module wrong")
def assumes_that_the_first_is_right(module, run, is_right, total):
    found = bisected(module, run, is_right, 1, total + 1)
    return found if found <= total else None


@breaks("or `None` if the module is right after all changes.", case="a block of BERT with no active dropout")
@wrong("names_the_change", says="not `None`, but the module is right after all")
def assumes_that_one_is_wrong(module, run, is_right, total):
    return bisected(module, run, is_right, 0, total)


@breaks("or `None` if the module is right after all changes.", case="nothing to change")
@wrong("ends well", says="ValueError: math domain error")
def takes_the_logarithm_of_the_total(module, run, is_right, total):
    low, high = 0, total + 1
    for _ in range(math.ceil(math.log2(total)) + 1):
        middle = (low + high) // 2
        if low < middle:
            low, high = (middle, high) if is_right(changed(module, run, middle)) else (low, middle)
    return high if high <= total else None


@breaks("after all changes.", case="the last change")
@wrong("names_the_change", says="answer is `None`, but change")
def leaves_out_the_last(module, run, is_right, total):
    number = bisect.bisect(range(1, total), False, key=lambda n: not is_right(changed(module, run, n))) + 1
    return number if number < total else None


@breaks("Leave the given module unchanged.", case="a block of GPT-2")
@wrong("given_left_alone", says="A graph that was passed has been changed", read=LEFT)
def makes_the_changes_in_the_given_module(module, run, is_right, total):
    found = moves_two_ends(module, run, is_right, total)
    run(module, at_most=found or total)
    return found


@breaks("Leave the given module unchanged.", case="changes that write into weights")
@wrong("given_left_alone", says="(changes that write into weights): a weight of the given module", read=LEFT)
def copies_only_the_graph(module, run, is_right, total):
    def is_wrong(number):
        draft = fx.GraphModule(module, copy.deepcopy(module.graph))
        run(draft, at_most=number)
        return not is_right(draft)

    number = bisect.bisect(range(1, total + 1), False, key=is_wrong) + 1
    return number if number <= total else None


@wrong("names_the_change", says="the module is still right: the first wrong change is")
def asks_about_a_copy_in_eval_mode(module, run, is_right, total):
    found = bisected(module, run, lambda draft: is_right(draft.eval()), 0, total + 1)
    return found if found <= total else None


@wrong("nothing_left", says="is now in eval mode")
def switches_the_given_module_to_eval_mode(module, run, is_right, total):
    return moves_two_ends(module.eval(), run, is_right, total)
