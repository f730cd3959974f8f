"""Answers to 09-show-the-gain: a ratio of FLOPs, and ratios of times with their spread."""

import statistics
import time
import timeit

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

from fxbook.tasks.answering import breaks, right, wrong

PAIRS = "09_profiling#two-models-are-compared-in-pairs"
WORK = "09_profiling#work-can-be-counted"
GRADIENTS = "09_profiling#who-asks-for-gradients"
MISSING = "when_it_breaks/02_insertion_points#typeerror-forward-missing-1-required-positional-argument-late"
KNOWN, MORE = "two products before, one after", "more FLOPs, two inputs, a nested result"


def flops(module, inputs):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(*inputs)
    return counter.get_total_flops()


def took(call, clock):
    start = clock()
    call()
    return clock() - start


def ratios(before, after, inputs, clock, rounds=20):
    def seconds(module):
        return took(lambda: module(*inputs), clock)

    found = []
    for turn in range(-1, rounds):
        if turn % 2:
            found.append(seconds(before) / seconds(after))
        else:
            after_first = seconds(after)
            found.append(seconds(before) / after_first)
    return found[1:]


def deciles(found):
    return [statistics.quantiles(found, n=10)[place] for place in (0, 4, 8)]


def answer(before, after, inputs, clock=time.perf_counter, found=None, **changed):
    with torch.no_grad():
        found = found or ratios(before, after, inputs, clock)
    return {"flops": flops(before, inputs) / flops(after, inputs), "time": deciles(found), **changed}


@right
def computes_quantiles_of_a_tensor(before, after, *inputs, clock=time.perf_counter):
    work = torch.tensor(flops(before, inputs) / flops(after, inputs))
    with torch.no_grad():
        found = torch.tensor(ratios(before, after, inputs, clock, 24), dtype=torch.float64)
    return {"time": found.quantile(torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)).tolist(), "flops": work}


@right
def uses_timeit_in_inference_mode(before, after, *inputs, clock=time.perf_counter):
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
    first.run(*inputs), second.run(*inputs)
    return {**found, "flops": first.total / second.total}


@right
def counts_with_fake_tensors(before, after, *inputs, clock=time.perf_counter):
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    with mode:
        fakes = [mode.from_tensor(value) for value in inputs]
        work = flops(before, fakes) / flops(after, fakes)
    return answer(before, after, inputs, clock, flops=work)


@breaks('`"flops"` is the FLOPs of `before` divided by the FLOPs of `after`.', case=KNOWN)
@wrong("ratio_of_flops", says="`flops` is after / before: it should be before / after: ", read=WORK)
def divides_flops_of_after_by_before(before, after, *inputs, clock=time.perf_counter):
    return answer(before, after, inputs, clock, flops=flops(after, inputs) / flops(before, inputs))


@breaks('Return `{"flops":', case=KNOWN)
@wrong("ratio_of_flops", says="The answer is not a dict with the keys 'flops' and 'time'.")
def returns_a_tuple(before, after, *inputs, clock=time.perf_counter):
    return tuple(answer(before, after, inputs, clock).values())


@breaks('…, "time":', case=KNOWN)
@wrong("three_numbers", says="three numbers")
def returns_only_the_median(before, after, *inputs, clock=time.perf_counter):
    return answer(before, after, inputs, clock, time=statistics.median(ratios(before, after, inputs, clock)))


@breaks("(low, median, high)}`", "the lower decile, the median and the upper decile", case=KNOWN)
@wrong("three_numbers", says="are not in this order")
def lists_the_upper_decile_first(before, after, *inputs, clock=time.perf_counter):
    found = answer(before, after, inputs, clock)
    return {**found, "time": found["time"][::-1]}


@breaks("Run at least 20 rounds", case=KNOWN)
@wrong("twenty_rounds", says="Single calls to `before` were timed 6 times", read=PAIRS)
def takes_five_rounds(before, after, *inputs, clock=time.perf_counter):
    return answer(before, after, inputs, found=ratios(before, after, inputs, clock, rounds=5))


@breaks("call each module once in each round.", case=KNOWN)
@wrong("twenty_rounds", says="38 calls between the timed ones were not timed: a round calls each", read=PAIRS)
def warms_up_in_each_round(before, after, *inputs, clock=time.perf_counter):
    found = []
    with torch.no_grad():
        for _ in range(20):
            before(*inputs), after(*inputs)
            found.append(took(lambda: before(*inputs), clock) / took(lambda: after(*inputs), clock))
    return answer(before, after, inputs, found=found)


@breaks("Measure with `clock`, as before.", case=KNOWN)
@wrong("twenty_rounds", says="`clock` was never read")
def reads_another_clock(before, after, *inputs, clock=time.perf_counter):
    return answer(before, after, inputs, time.perf_counter)


@breaks("Time the calls without gradients", case=KNOWN)
@wrong("twenty_rounds", says="The timed calls ran with gradients: time them without.", read=GRADIENTS)
def times_with_gradients(before, after, *inputs, clock=time.perf_counter):
    return answer(before, after, inputs, found=ratios(before, after, inputs, clock))


@breaks("outside any `FlopCounterMode`.", case=KNOWN)
@wrong("twenty_rounds", says="The timed calls ran under a `FlopCounterMode`", read=WORK)
def counts_while_it_times(before, after, *inputs, clock=time.perf_counter):
    with FlopCounterMode(display=False), torch.no_grad():
        found = ratios(before, after, inputs, clock)
    return answer(before, after, inputs, found=found)


@breaks("`before` divided by `after`.", case=KNOWN)
@wrong("median_with_deciles", says="`time` is after / before: it should be before / after.", read=PAIRS)
def divides_times_of_after_by_before(before, after, *inputs, clock=time.perf_counter):
    with torch.no_grad():
        found = ratios(before, after, inputs, clock)
    return answer(before, after, inputs, found=[1 / ratio for ratio in found])


@breaks("of paired ratios", case=KNOWN)
@wrong(
    "median_with_deciles", says="One module was timed 20 times in a row: a round calls each module once.", read=PAIRS
)
def times_one_module_after_the_other(before, after, *inputs, clock=time.perf_counter):
    with torch.no_grad():
        first = [took(lambda: before(*inputs), clock) for _ in range(20)]
        second = [took(lambda: after(*inputs), clock) for _ in range(20)]
    return answer(before, after, inputs, found=[one / other for one, other in zip(first, second, strict=True)])


@wrong("ends well", says=f"({MORE})", read=MISSING)
def passes_only_the_first_input(before, after, *inputs, clock=time.perf_counter):
    return answer(before, after, inputs[:1], clock)
