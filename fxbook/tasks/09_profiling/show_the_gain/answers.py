"""Answers to 09-show-the-gain."""

import fractions
import statistics
import time
import timeit

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

from fxbook.tasks.answering import breaks, right, wrong

FIRST = "09_profiling#a-clock-around-every-node"
PAIRS = "09_profiling#two-models-are-compared-in-pairs"
WORK = "09_profiling#work-can-be-counted"


def flops(module, inputs):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(*inputs)
    return counter.get_total_flops()


def took(module, inputs, clock):
    start = clock()
    module(*inputs)
    return clock() - start


def ratios(before, after, inputs, clock, rounds=20, no_grad=True):
    found = []
    with torch.set_grad_enabled(not no_grad):
        before(*inputs), after(*inputs)
        for turn in range(rounds):
            seconds = {}
            for module in (before, after) if turn % 2 else (after, before):
                seconds[module] = took(module, inputs, clock)
            found.append(seconds[before] / seconds[after])
    return found


def answer(before, after, inputs, clock, **changed):
    cut = statistics.quantiles(ratios(before, after, inputs, clock), n=10)
    return {"flops": flops(before, inputs) / flops(after, inputs), "time": (cut[0], cut[4], cut[8]), **changed}


@right
def tensor_quantiles(before, after, *inputs, clock=time.perf_counter):
    work = torch.tensor(flops(before, inputs) / flops(after, inputs))
    found = torch.tensor(ratios(before, after, inputs, clock, 24), dtype=torch.float64)
    return {"time": found.quantile(torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)).tolist(), "flops": work}


@right
def with_timeit_under_inference_mode(before, after, *inputs, clock=time.perf_counter):
    first, second = (timeit.Timer(lambda m=module: m(*inputs), timer=clock) for module in (before, after))
    found = []
    with torch.inference_mode():
        first.timeit(1), second.timeit(1)
        for turn in range(25):
            pair = [first.timeit(1), second.timeit(1)] if turn % 2 else [second.timeit(1), first.timeit(1)][::-1]
            found.append(pair[0] / pair[1])
    found.sort()
    return answer(before, after, inputs, clock, time=torch.tensor([found[2], found[12], found[-3]]))


@right
def counts_node_by_node(before, after, *inputs, clock=time.perf_counter):
    class Flops(fx.Interpreter):
        total = 0

        def run_node(self, node):
            with FlopCounterMode(display=False) as counter:
                value = super().run_node(node)
            self.total += counter.get_total_flops()
            return value

    found = answer(before, after, inputs, clock)
    first, second = Flops(before), Flops(after)
    with torch.no_grad():
        first.run(*inputs), second.run(*inputs)
    return {**found, "flops": first.total / second.total}


@right
def counts_without_computing(before, after, *inputs, clock=time.perf_counter):
    """The last number is a fraction: it is exact."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    with mode:
        fakes = [mode.from_tensor(value) for value in inputs]
        work = fractions.Fraction(flops(before, fakes), flops(after, fakes))
    return answer(before, after, inputs, clock, flops=float(work))


@breaks('`"flops"` is the FLOPs of `before` divided by the FLOPs of `after`.', case="two products and one")
@wrong("ratio_of_flops", says="`flops` is after / before: before / after was asked.", read=WORK)
def flops_the_wrong_way(before, after, *inputs, clock=time.perf_counter):
    return answer(before, after, inputs, clock, flops=flops(after, inputs) / flops(before, inputs))


@breaks("the FLOPs of `before` divided by the FLOPs of `after`.", case="more FLOPs, two inputs, a nested result")
@wrong("ratio_of_flops", says="FLOPs before / after. You say 0.", read=WORK)
def whole_times_as_many_flops(before, after, *inputs, clock=time.perf_counter):
    return answer(before, after, inputs, clock, flops=flops(before, inputs) // flops(after, inputs))


@breaks('Return `{"flops":', case="two products and one")
@wrong("ratio_of_flops", says="A dict with the keys 'flops' and 'time' was asked.")
def a_tuple(before, after, *inputs, clock=time.perf_counter):
    return tuple(answer(before, after, inputs, clock).values())


@breaks('…, "time":', case="two products and one")
@wrong("three_numbers", says="three numbers")
def only_the_median(before, after, *inputs, clock=time.perf_counter):
    return answer(before, after, inputs, clock, time=statistics.median(ratios(before, after, inputs, clock)))


@breaks("(low, median, high)}`", "the lower decile, the median and the upper decile", case="two products and one")
@wrong("three_numbers", says="are not in order")
def from_high_to_low(before, after, *inputs, clock=time.perf_counter):
    found = answer(before, after, inputs, clock)
    return {**found, "time": found["time"][::-1]}


@breaks("Take at least 20 rounds", case="two products and one")
@wrong("twenty_rounds", says="5 of your times are of one call of `before` alone", read=PAIRS)
def five_rounds(before, after, *inputs, clock=time.perf_counter):
    cut = statistics.quantiles(ratios(before, after, inputs, clock, 5), n=10)
    work = flops(before, inputs) / flops(after, inputs)
    return {"flops": work, "time": (cut[0], cut[4], cut[8])}


@breaks("call each module once in each round.", case="two products and one")
@wrong("twenty_rounds", says="None of your times is of one call of `before` alone", read=PAIRS)
def times_twenty_calls_together(before, after, *inputs, clock=time.perf_counter):
    def together(module):
        start = clock()
        for _ in range(20):
            module(*inputs)
        return clock() - start

    with torch.no_grad():
        cut = statistics.quantiles([together(before) / together(after) for _ in range(20)], n=10)
    return {"flops": flops(before, inputs) / flops(after, inputs), "time": (cut[0], cut[4], cut[8])}


@breaks("`clock` is as before.", case="two products and one")
@wrong("twenty_rounds", says="`clock` was never read")
def reads_another_clock(before, after, *inputs, clock=time.perf_counter):
    return answer(before, after, inputs, time.perf_counter)


@breaks("Time the calls without gradients", case="two products and one")
@wrong("twenty_rounds", says="ask for gradients", read="09_profiling#who-asks-for-gradients")
def with_gradients(before, after, *inputs, clock=time.perf_counter):
    cut = statistics.quantiles(ratios(before, after, inputs, clock, no_grad=False), n=10)
    return {"flops": flops(before, inputs) / flops(after, inputs), "time": (cut[0], cut[4], cut[8])}


@breaks("outside a `FlopCounterMode`.", case="two products and one")
@wrong("twenty_rounds", says="The calls that were timed run under a `FlopCounterMode`", read=FIRST)
def counts_while_it_times(before, after, *inputs, clock=time.perf_counter):
    with FlopCounterMode(display=False):
        found = ratios(before, after, inputs, clock)
    cut = statistics.quantiles(found, n=10)
    return {"flops": flops(before, inputs) / flops(after, inputs), "time": (cut[0], cut[4], cut[8])}


@breaks("`before` divided by `after`.", case="two products and one")
@wrong("median_with_deciles", says="ratios of time before / time after were asked", read=PAIRS)
def time_the_wrong_way(before, after, *inputs, clock=time.perf_counter):
    cut = statistics.quantiles([1 / ratio for ratio in ratios(before, after, inputs, clock)], n=10)
    return answer(before, after, inputs, clock, time=(cut[0], cut[4], cut[8]))


@breaks("of paired ratios", case="two products and one")
@wrong("median_with_deciles", says="is not the median of ratios of calls side by side", read=PAIRS)
def one_after_the_other(before, after, *inputs, clock=time.perf_counter):
    before(*inputs), after(*inputs)
    with torch.no_grad():
        first = [took(before, inputs, clock) for _ in range(20)]
        second = [took(after, inputs, clock) for _ in range(20)]
    cut = statistics.quantiles([one / other for one, other in zip(first, second, strict=True)], n=10)
    return {"flops": flops(before, inputs) / flops(after, inputs), "time": (cut[0], cut[4], cut[8])}


@breaks("for two modules that compute the same", case="fewer FLOPs, and not faster")
@wrong("median_with_deciles", says="(fewer FLOPs, and not faster): `time` is after / before", read=PAIRS)
def sure_of_a_gain(before, after, *inputs, clock=time.perf_counter):
    """Fewer FLOPs cannot be slower: if they seem so, the quotient must be the wrong way round."""
    found = ratios(before, after, inputs, clock)
    if statistics.median(found) < 1:
        found = [1 / ratio for ratio in found]
    cut = statistics.quantiles(found, n=10)
    return answer(before, after, inputs, clock, time=(cut[0], cut[4], cut[8]))


@wrong(
    "ends well",
    says="(more FLOPs, two inputs, a nested result)",
    read="when_it_breaks/02_insertion_points#typeerror-forward-missing-1-required-positional-argument-late",
)
def passes_the_first_input_alone(before, after, *inputs, clock=time.perf_counter):
    return answer(before, after, inputs[:1], clock)
