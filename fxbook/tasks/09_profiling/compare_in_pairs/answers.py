"""Answers to 09-compare-in-pairs: ratios of the times of two functions."""

import itertools
import math
import time
import timeit

from fxbook.tasks.answering import breaks, right, wrong

FIRST = "09_profiling#a-clock-around-every-node"
SLOWING, ODD = "a machine that slows down", "an odd number of rounds"


def took(call, clock):
    start = clock()
    call()
    return clock() - start


@right
def swaps_a_list(first, second, rounds, clock=time.perf_counter):
    order, ratios = [first, second], []
    for call in order:
        call()
    for _ in range(rounds):
        seconds = {call: took(call, clock) for call in order}
        ratios.append(seconds[first] / seconds[second])
        order.reverse()
    return ratios


@right
def uses_timeit(first, second, rounds, clock=time.perf_counter):
    timers = timeit.Timer(first, timer=clock), timeit.Timer(second, timer=clock)
    for timer in timers:
        timer.timeit(1)
    ratios = []
    for turn in range(rounds):
        seconds = [0.0, 0.0]
        for which in (0, 1) if turn % 2 else (1, 0):
            seconds[which] = timers[which].timeit(number=1)
        ratios.append(seconds[0] / seconds[1])
    return ratios


@right
def subtracts_logarithms(first, second, rounds, clock=time.perf_counter):
    """Works with logarithms, whose sign depends on which function ran first."""
    first(), second()
    found = []
    for one, other, sign in itertools.islice(itertools.cycle([(second, first, -1), (first, second, 1)]), rounds):
        found.append(sign * (math.log(took(one, clock)) - math.log(took(other, clock))))
    return tuple(math.exp(value) for value in found)


@right
def runs_one_more_round(first, second, rounds, clock=time.perf_counter):
    """Leaves out the first round, and reads the clock three times in a round."""
    ratios = []
    for turn in range(rounds + 1):
        one, other = (first, second) if turn % 2 else (second, first)
        start = clock()
        one()
        between = clock()
        other()
        ratio = (between - start) / (clock() - between)
        ratios.append(ratio if turn % 2 else 1 / ratio)
    return ratios[1:]


def in_order(goes_first, first, second, rounds, clock, warm=1, warm_again=0):
    ratios = []
    for _ in range(warm):
        first(), second()
    for turn in range(rounds):
        for _ in range(warm_again):
            first(), second()
        seconds = {}
        for call in (first, second) if goes_first(turn) else (second, first):
            seconds[call] = took(call, clock)
        ratios.append(seconds[first] / seconds[second])
    return ratios


def turns(turn):
    return turn % 2


@breaks("one directly after the other", case=SLOWING)
@wrong("ratios_in_pairs", says="Ratio 0 compares calls with other calls between them")
def times_one_function_after_the_other(first, second, rounds, clock=time.perf_counter):
    first(), second()
    a = [took(first, clock) for _ in range(rounds)]
    b = [took(second, clock) for _ in range(rounds)]
    return [x / y for x, y in zip(a, b, strict=True)]


@breaks("the time of `first`", case=SLOWING)
@wrong("ratios_in_pairs", says="In ratio 0, the time of `second` contains the time of `first`.")
def reads_one_start_for_both(first, second, rounds, clock=time.perf_counter):
    first(), second()
    order, ratios = [first, second], []
    for _ in range(rounds):
        start, seconds = clock(), {}
        for call in order:
            call()
            seconds[call] = clock() - start
        ratios.append(seconds[first] / seconds[second])
        order.reverse()
    return ratios


@breaks("the order alternates", case=SLOWING)
@wrong("ratios_in_pairs", says="`first` runs first in 12 of 12 rounds: the order should alternate.")
def never_swaps_the_order(first, second, rounds, clock=time.perf_counter):
    return in_order(lambda turn: True, first, second, rounds, clock)


@breaks("the time of `first` divided by the time of `second`.", case=SLOWING)
@wrong("ratios_in_pairs", says="second / first: they should be first / second.")
def divides_second_by_first(first, second, rounds, clock=time.perf_counter):
    return in_order(turns, second, first, rounds, clock)


@breaks("Do not measure the first call", case=SLOWING)
@wrong("ratios_in_pairs", says="Ratio 0 is far from the others, because it contains a first call.", read=FIRST)
def times_the_first_calls(first, second, rounds, clock=time.perf_counter):
    return in_order(turns, first, second, rounds, clock, warm=0)


@breaks("from round to round", case=SLOWING)
@wrong("ratios_in_pairs", says="The same function runs first in two successive rounds")
def swaps_the_order_once(first, second, rounds, clock=time.perf_counter):
    return in_order(lambda turn: 2 * turn < rounds, first, second, rounds, clock)


@breaks("one ratio for each of `rounds` rounds:", case=SLOWING)
@wrong("ratios_in_pairs", says="The list has length 1, but `rounds` is 12.")
def returns_one_ratio(first, second, rounds, clock=time.perf_counter):
    return [sum(in_order(turns, first, second, rounds, clock)) / rounds]


@breaks("a list with one ratio", case=SLOWING)
@wrong("ratios_in_pairs", says="The answer is not a list of numbers")
def returns_pairs(first, second, rounds, clock=time.perf_counter):
    return [(took(first, clock), took(second, clock)) for _ in range(rounds)]


@breaks("Measure with `clock`", case=SLOWING)
@wrong("ratios_in_pairs", says="Neither function ran after the first reading of `clock`")
def reads_another_clock(first, second, rounds, clock=time.perf_counter):
    return in_order(turns, first, second, rounds, time.perf_counter)


@breaks("both functions run once", case=SLOWING)
@wrong("ratios_in_pairs", says="`first` ran 23 times in 12 rounds: each function should run once in a round.")
def warms_up_in_each_round(first, second, rounds, clock=time.perf_counter):
    return in_order(turns, first, second, rounds, clock, warm=0, warm_again=1)


@breaks("for each of `rounds` rounds", case=ODD)
@wrong("ratios_in_pairs", says="(an odd number of rounds): the list has length 10, but `rounds` is 9.")
def runs_an_even_number_of_rounds(first, second, rounds, clock=time.perf_counter):
    return in_order(turns, first, second, rounds + rounds % 2, clock)
