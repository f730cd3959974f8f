"""Answers to 09-compare-in-pairs."""

import itertools
import math
import time
import timeit

from fxbook.tasks.answering import breaks, right, wrong

FIRST = "09_profiling#a-clock-around-every-node"


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
    """The sign says who ran first."""
    first(), second()
    found = []
    for one, other, sign in itertools.islice(itertools.cycle([(second, first, -1), (first, second, 1)]), rounds):
        found.append(sign * (math.log(took(one, clock)) - math.log(took(other, clock))))
    return tuple(math.exp(value) for value in found)


@breaks("one directly after the other", case="two calls on a machine that slows down")
@wrong("ratios_in_pairs", says="is not of two runs side by side")
def one_after_the_other(first, second, rounds, clock=time.perf_counter):
    first(), second()
    a = [took(first, clock) for _ in range(rounds)]
    b = [took(second, clock) for _ in range(rounds)]
    return [x / y for x, y in zip(a, b, strict=True)]


@breaks("the order alternates", case="two calls on a machine that slows down")
@wrong("ratios_in_pairs", says="`first` runs first in 12 of 12 rounds: the order was to alternate.")
def always_the_same_order(first, second, rounds, clock=time.perf_counter):
    first(), second()
    return [took(first, clock) / took(second, clock) for _ in range(rounds)]


@breaks("the time of `first` divided by the time of `second`:", case="two calls on a machine that slows down")
@wrong("ratios_in_pairs", says="second / first: first / second was asked")
def divides_the_wrong_way(first, second, rounds, clock=time.perf_counter):
    return [1 / ratio for ratio in swaps_a_list(first, second, rounds, clock)]


@right
def one_round_more(first, second, rounds, clock=time.perf_counter):
    """The first round is left out; three looks at the clock in a round."""
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


def in_order(goes_first, first, second, rounds, clock, warm=True):
    ratios = []
    for call in (first, second) if warm else ():
        call()
    for turn in range(rounds):
        seconds = {}
        for call in (first, second) if goes_first(turn) else (second, first):
            seconds[call] = took(call, clock)
        ratios.append(seconds[first] / seconds[second])
    return ratios


@breaks("Leave the first call of each out.", case="two calls on a machine that slows down")
@wrong("ratios_in_pairs", says="Ratio 0 is far from the others: a first call is in it.", read=FIRST)
def warms_nothing_up(first, second, rounds, clock=time.perf_counter):
    return in_order(lambda turn: turn % 2, first, second, rounds, clock, warm=False)


@breaks("from round to round", case="two calls on a machine that slows down")
@wrong("ratios_in_pairs", says="The same one runs first in two rounds that follow each other")
def alternates_halfway(first, second, rounds, clock=time.perf_counter):
    return in_order(lambda turn: 2 * turn < rounds, first, second, rounds, clock)


@breaks("one ratio for each of `rounds` rounds.", case="two calls on a machine that slows down")
@wrong("ratios_in_pairs", says="The list has 1 ratios: 12 rounds were asked.")
def one_ratio(first, second, rounds, clock=time.perf_counter):
    ratios = swaps_a_list(first, second, rounds, clock)
    return [sum(ratios) / len(ratios)]


@breaks("a list of ratios", case="two calls on a machine that slows down")
@wrong("ratios_in_pairs", says="A list of numbers was asked")
def returns_pairs(first, second, rounds, clock=time.perf_counter):
    return [(took(first, clock), took(second, clock)) for _ in range(rounds)]


@breaks("`clock` is as in the first exercise.", case="two calls on a machine that slows down")
@wrong("ratios_in_pairs", says="Nothing ran after `clock` was read: the seconds were to be those that it gives.")
def reads_another_clock(first, second, rounds, clock=time.perf_counter):
    return swaps_a_list(first, second, rounds, time.perf_counter)


@breaks("In a round each runs once", case="two calls on a machine that slows down")
@wrong("ratios_in_pairs", says="`first` ran 23 times for 12 ratios: in a round each was to run once.")
def warms_up_in_each_round(first, second, rounds, clock=time.perf_counter):
    order, ratios = [first, second], []
    for _ in range(rounds):
        first(), second()
        seconds = {call: took(call, clock) for call in order}
        ratios.append(seconds[first] / seconds[second])
        order.reverse()
    return ratios


@breaks("for each of `rounds` rounds", case="an odd number of rounds")
@wrong("ratios_in_pairs", says="(an odd number of rounds): the list has 10 ratios: 9 rounds were asked.")
def rounds_in_twos(first, second, rounds, clock=time.perf_counter):
    first(), second()
    ratios = []
    while len(ratios) < rounds:
        ratios += in_order(lambda turn: turn % 2, first, second, 2, clock, warm=False)
    return ratios
