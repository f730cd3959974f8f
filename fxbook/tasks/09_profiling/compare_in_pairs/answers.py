"""Answers to 09-compare-in-pairs."""

import itertools
import math
import time
import timeit

from fxbook.tasks.answering import breaks, right, wrong

FIRST = "09_profiling#a-clock-around-every-node"
SLOWING, ODD = "two calls on a machine that slows down", "an odd number of rounds"


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
def with_timeit(first, second, rounds, clock=time.perf_counter):
    """``timeit`` takes any clock."""
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
def logarithms(first, second, rounds, clock=time.perf_counter):
    """The sign says which ran first."""
    first(), second()
    found = []
    for one, other, sign in itertools.islice(itertools.cycle([(second, first, -1), (first, second, 1)]), rounds):
        found.append(sign * (math.log(took(one, clock)) - math.log(took(other, clock))))
    return tuple(math.exp(value) for value in found)


@right
def one_round_more(first, second, rounds, clock=time.perf_counter):
    """The first round is left out; the clock is read three times in a round."""
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
@wrong("ratios_in_pairs", says="Ratio 0 compares runs that were not side by side")
def one_after_the_other(first, second, rounds, clock=time.perf_counter):
    first(), second()
    a = [took(first, clock) for _ in range(rounds)]
    b = [took(second, clock) for _ in range(rounds)]
    return [x / y for x, y in zip(a, b, strict=True)]


@breaks("the order alternates", case=SLOWING)
@wrong("ratios_in_pairs", says="`first` runs first in 12 of 12 rounds: the order must alternate.")
def always_the_same_order(first, second, rounds, clock=time.perf_counter):
    return in_order(lambda turn: True, first, second, rounds, clock)


@breaks("the time of `first` divided by the time of `second`:", case=SLOWING)
@wrong("ratios_in_pairs", says="second / first: the task asks for first / second.")
def divides_the_wrong_way(first, second, rounds, clock=time.perf_counter):
    return in_order(turns, second, first, rounds, clock)


@breaks("Do not measure the first call", case=SLOWING)
@wrong("ratios_in_pairs", says="Ratio 0 is far from the others: it contains a first call.", read=FIRST)
def warms_nothing_up(first, second, rounds, clock=time.perf_counter):
    return in_order(turns, first, second, rounds, clock, warm=0)


@breaks("from round to round", case=SLOWING)
@wrong("ratios_in_pairs", says="The same function runs first in two successive rounds")
def alternates_halfway(first, second, rounds, clock=time.perf_counter):
    return in_order(lambda turn: 2 * turn < rounds, first, second, rounds, clock)


@breaks("one ratio for each of `rounds` rounds.", case=SLOWING)
@wrong("ratios_in_pairs", says="The list has 1 ratios: `rounds` is 12.")
def one_ratio(first, second, rounds, clock=time.perf_counter):
    return [sum(in_order(turns, first, second, rounds, clock)) / rounds]


@breaks("a list of ratios", case=SLOWING)
@wrong("ratios_in_pairs", says="The task asks for a list of numbers")
def returns_pairs(first, second, rounds, clock=time.perf_counter):
    return [(took(first, clock), took(second, clock)) for _ in range(rounds)]


@breaks("Measure with `clock`", case=SLOWING)
@wrong("ratios_in_pairs", says="Neither function ran after `clock` was read: measure with it.")
def reads_another_clock(first, second, rounds, clock=time.perf_counter):
    return in_order(turns, first, second, rounds, time.perf_counter)


@breaks("both functions run once", case=SLOWING)
@wrong("ratios_in_pairs", says="`first` ran 23 times for 12 ratios: each runs once in a round.")
def warms_up_in_each_round(first, second, rounds, clock=time.perf_counter):
    return in_order(turns, first, second, rounds, clock, warm=0, warm_again=1)


@breaks("for each of `rounds` rounds", case=ODD)
@wrong("ratios_in_pairs", says="(an odd number of rounds): the list has 10 ratios: `rounds` is 9.")
def rounds_in_twos(first, second, rounds, clock=time.perf_counter):
    return in_order(turns, first, second, rounds + rounds % 2, clock)
