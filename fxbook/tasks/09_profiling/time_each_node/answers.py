"""Answers to 09-time-each-node: the seconds of each node in each run."""

import functools
import statistics
import time

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

FIRST = "09_profiling#a-clock-around-every-node"
KNOWN, SEVERAL = "three functions", "two inputs, and a function that several nodes call"


@right
def runs_its_own_loop(traced, inputs, runs, clock=time.perf_counter):
    times = {node.name: [] for node in traced.graph.nodes}
    for _ in range(runs + 1):
        interpreter = fx.Interpreter(traced)
        interpreter.env, interpreter.args_iter = {}, iter(inputs)
        for node in traced.graph.nodes:
            start = clock()
            interpreter.env[node] = interpreter.run_node(node)
            times[node.name].append(clock() - start)
    return {name: found[1:] for name, found in times.items()}


@right
def reads_the_clock_once_between_two_nodes(traced, inputs, runs, clock=time.perf_counter):
    found = {}

    class Timer(fx.Interpreter):
        def run(self, *values):
            self.last = clock()
            return super().run(*values)

        def run_node(self, node):
            value = super().run_node(node)
            now = clock()
            found.setdefault(node.name, []).append(now - self.last)
            self.last = now
            return value

    for _ in range(1 + runs):
        Timer(traced).run(*inputs)
    return {name: seconds[-runs:] for name, seconds in found.items()}


@right
def fills_a_tensor(traced, inputs, runs, clock=time.perf_counter):
    """Replaces the method on the object, without a subclass."""
    names = [node.name for node in traced.graph.nodes]
    seconds = torch.zeros(runs + 1, len(names), dtype=torch.float64)
    interpreter = fx.Interpreter(traced)
    plain = interpreter.run_node
    for run in range(runs + 1):

        def run_node(node, run=run):
            start = clock()
            value = plain(node)
            seconds[run, names.index(node.name)] = clock() - start
            return value

        interpreter.run_node = run_node
        interpreter.run(*inputs)
    return dict(zip(names, seconds[1:].unbind(dim=1), strict=True))


@right
def calls_the_method_of_each_opcode(traced, inputs, runs, clock=time.perf_counter):
    found = []
    for _ in range(runs + 1):
        runner, seconds = fx.Interpreter(traced), {}
        runner.args_iter, runner.env = iter(inputs), {}
        for node in traced.graph.nodes:
            args, kwargs = runner.fetch_args_kwargs_from_env(node)
            method, start = getattr(runner, node.op), clock()
            runner.env[node] = method(node.target, args, kwargs)
            seconds[node.name] = clock() - start
        found.append(seconds)
    return {name: tuple(seconds[name] for seconds in found[1:]) for name in found[0]}


def measured(traced, inputs, runs, clock):
    found = {node.name: [] for node in traced.graph.nodes}

    class Timer(fx.Interpreter):
        def run_node(self, node):
            start = clock()
            value = super().run_node(node)
            found[node.name].append(clock() - start)
            return value

    for _ in range(runs):
        Timer(traced).run(*inputs)
    return found


@breaks("the name of each node", case=KNOWN)
@wrong("times_of_each_node", says="The keys of the dict are nodes: they should be the names of the nodes.")
def has_nodes_as_keys(traced, inputs, runs, clock=time.perf_counter):
    found = measured(traced, inputs, runs + 1, clock)
    return {node: found[node.name][1:] for node in traced.graph.nodes}


@breaks("to a list of its times in seconds:", case=KNOWN)
@wrong("times_of_each_node", says="a list of seconds")
def returns_medians(traced, inputs, runs, clock=time.perf_counter):
    found = measured(traced, inputs, runs + 1, clock)
    return {name: statistics.median(seconds[1:]) for name, seconds in found.items()}


@breaks("each node", case=SEVERAL)
@wrong("times_of_each_node", says=f"({SEVERAL}): the dict has no times for node `shift`")
def leaves_out_get_attr(traced, inputs, runs, clock=time.perf_counter):
    found = measured(traced, inputs, runs + 1, clock)
    return {node.name: found[node.name][1:] for node in traced.graph.nodes if node.op != "get_attr"}


@breaks("one for each of `runs` runs", case=SEVERAL)
@wrong("without_the_first_run", says="node `x` has 5 times, but `runs` is 3, without the first run.", read=FIRST)
def always_takes_five_runs(traced, inputs, runs, clock=time.perf_counter):
    return {name: found[1:] for name, found in measured(traced, inputs, 6, clock).items()}


@breaks("Read no other clock.", case=KNOWN)
@wrong("on_the_clock", says="is not the time that passed on `clock`", read=FIRST)
def reads_another_clock(traced, inputs, runs, clock=time.perf_counter):
    return {name: found[1:] for name, found in measured(traced, inputs, runs + 1, time.perf_counter).items()}


@wrong("ends well", says="got None: run_node returned nothing for the node that it uses.")
def forgets_to_return_the_value(traced, inputs, runs, clock=time.perf_counter):
    class Timer(fx.Interpreter):
        def run_node(self, node):
            super().run_node(node)

    return Timer(traced).run(*inputs)


@breaks("of its times in seconds:", case=KNOWN)
@wrong("on_the_clock", says="The times of `load` are in milliseconds, but the task asks for seconds.", read=FIRST)
def returns_milliseconds(traced, inputs, runs, clock=time.perf_counter):
    found = measured(traced, inputs, runs + 1, lambda: 1000 * clock())
    return {name: seconds[1:] for name, seconds in found.items()}


@breaks("Each node runs once in each run.", case=SEVERAL)
@wrong("on_the_clock", says="node `scale` runs again and again in one run", read=FIRST)
def repeats_each_node_within_one_run(traced, inputs, runs, clock=time.perf_counter):
    found = {node.name: [0.0] * runs for node in traced.graph.nodes}

    class Timer(fx.Interpreter):
        def call_function(self, target, args, kwargs):
            value = super().call_function(target, args, kwargs)
            for run in range(runs):
                start = clock()
                super().call_function(target, args, kwargs)
                found[self.name][run] = clock() - start
            return value

        def run_node(self, node):
            self.name = node.name
            return super().run_node(node)

    Timer(traced).run(*inputs)
    return found


@breaks("One extra run comes first,", case=KNOWN)
@wrong("on_the_clock", says="2 runs come before the first one in the list of `load`: only one should.")
def runs_the_module_before_the_extra_run(traced, inputs, runs, clock=time.perf_counter):
    traced(*inputs)
    return {name: found[1:] for name, found in measured(traced, inputs, runs + 1, clock).items()}


@breaks("One extra run comes first, and its times are not in the list", case=KNOWN)
@wrong("without_the_first_run", says="The times of `load` include that of the first run", read=FIRST)
def leaves_the_slowest_run_out(traced, inputs, runs, clock=time.perf_counter):
    return {name: sorted(found)[:-1] for name, found in measured(traced, inputs, runs + 1, clock).items()}


@breaks("Run `traced` on `inputs`, a tuple.", case=SEVERAL)
@wrong(
    "on_the_clock", says="time of `scale_1` is not the time that passed on `clock` while that node ran on", read=FIRST
)
def runs_on_the_first_input_twice(traced, inputs, runs, clock=time.perf_counter):
    places = traced.graph.find_nodes(op="placeholder")
    found = measured(traced, inputs[:1] * len(places), runs + 1, clock)
    return {name: seconds[1:] for name, seconds in found.items()}


@wrong("input_unchanged", says="the model that was given has been changed: its code was recompiled")
def leaves_timers_in_the_graph(traced, inputs, runs, clock=time.perf_counter):
    found = {node.name: [] for node in traced.graph.nodes}

    def watched(name, function, *args, **kwargs):
        start = clock()
        value = function(*args, **kwargs)
        found[name].append(clock() - start)
        return value

    for node in (node for node in traced.graph.nodes if node.op == "call_function"):
        node.target = functools.wraps(node.target)(functools.partial(watched, node.name, node.target))
    traced.recompile()
    for _ in range(runs + 1):
        traced(*inputs)
    return {name: seconds[1:] or [0.0] * runs for name, seconds in found.items()}


@breaks("one for each of `runs` runs, in order.", case=KNOWN)
@wrong("on_the_clock", says="The times of `load` are not in the order of the runs.")
def sorts_the_times(traced, inputs, runs, clock=time.perf_counter):
    return {name: sorted(found[1:]) for name, found in measured(traced, inputs, runs + 1, clock).items()}
