"""Measure a network: its nodes, and the FLOPs and the peak memory of a boxed run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import torch
from torch.utils.flop_counter import FlopCounterMode

from fxbook.cases import Check
from fxbook.cases.running import one_thread
from fxbook.cases.values import dict_items
from fxbook.rules.returned import number_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView
from fxbook.stepping.run.record import Method, RunRecord, record_run

_NAMES = ("nodes", "flops", "peak")


def _numbers(case: CaseView) -> dict[str, float | None]:
    items = dict_items(case.value) if isinstance(case.value, dict) and "dict" in case.value else {}
    return {name.strip("'"): number_of(item) for name, item in items.items()}


@one_thread()
def _run(case: CaseView, method: Method = "boxed_run", gradients: bool = False) -> RunRecord:
    traced, inputs = case.arguments
    with torch.set_grad_enabled(gradients):
        return record_run(traced, traced.graph, inputs, method)


@rule
def three_numbers(case: CaseView) -> Found:
    """The answer is a dict with three numbers."""
    numbers = _numbers(case)
    for name in _NAMES:
        if numbers.get(name) is None:
            yield None, f"Return a dict with the numbers {', '.join(map(repr, _NAMES))}: {name!r} is missing."
    for name in numbers:
        if name not in _NAMES:
            yield None, f"The answer has the key {name!r}, which is not the name of any of the three numbers."


@rule("00_first_graph#every-node-carries-six-fields-and-its-users")
def nodes_counted(case: CaseView) -> Found:
    """The number of nodes in the graph, including inputs and output."""
    found, expected = _numbers(case)["nodes"], len(case.before)
    if found != expected:
        calls = sum(node.op.startswith("call") for node in case.before)
        why = " Inputs and `output` are nodes too." if found in (calls, expected - 1) else ""
        yield None, f"The answer has {found:g} nodes, but the graph has {expected}.{why}"


@rule("09_profiling#work-can-be-counted")
@one_thread()
def flops_counted(case: CaseView) -> Found:
    """The FLOPs of one run."""
    _traced, inputs = case.arguments
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        case.model(*inputs)
    found, expected = _numbers(case)["flops"], counter.get_total_flops()
    if found != expected:
        why = ""
        if 2 * found == expected:
            why = " A product and a sum are two operations."
        elif found and found % expected == 0:
            why = " Count one run."
        yield None, f"The answer has {found:,.0f} FLOPs, but a run has {expected:,}.{why}"


def _alive(run: RunRecord, step: int, without: Collection[int] = ()) -> list[int]:
    """The storages of the values that are alive once a node has computed its result, with one entry for each value.

    Leaves out the values of some nodes, given by position.
    """
    return [
        number
        for index, value in enumerate(run.values)
        if value and index not in without
        if value.made <= step and (value.dropped is None or value.dropped >= step)
        for number in value.stores
    ]


def _mistake(case: CaseView, run: RunRecord, found: float | None) -> str | None:
    """What the answer counts or leaves out, if that accounts for its number."""
    weights = {number for number, store in enumerate(run.stores) if store.stored}
    given = {number for number, store in enumerate(run.stores) if store.given}
    fetching = {node.index for node in case.before if node.op == "get_attr"}
    unused = {node.index for node in case.before if not node.users}
    inputs = {node.index for node in case.before if node.op == "placeholder"}
    counts: dict[str, tuple[Collection[int], Callable[[list[int]], Iterable[int]]]] = {
        "counts weights": ((), set),
        "counts views of weights": (fetching, set),
        "counts shared memory more than once": ((), lambda alive: [one for one in alive if one not in weights]),
        "leaves out the inputs": ((), lambda alive: {*alive} - weights - given),
        "leaves out an input that no node uses": (unused & inputs, lambda alive: {*alive} - weights),
        "leaves out a result that no node uses": (unused - inputs, lambda alive: {*alive} - weights),
    }
    for mistake, (without, counted) in counts.items():
        alive = [counted(_alive(run, step, without)) for step in range(run.steps)]
        if found == max(sum(run.stores[number].nbytes for number in numbers) for numbers in alive):
            return mistake
    fetched = sum(run.stores[number].nbytes for number in weights & {*run.owner})
    return "counts weights" if found in (run.peak + run.in_module, run.peak + fetched) else None


@rule
def peak_measured(case: CaseView) -> Found:
    """The most bytes alive at a node of a boxed run without gradients, not counting weights."""
    run, found = _run(case), _numbers(case)["peak"]
    if found == run.peak:
        return
    peaks = f"The peak of the run is {run.peak:,} bytes, but the answer is {found:,.0f}"
    if found == max(run.after):
        yield None, f"{peaks}, which is the most bytes alive after values are freed, not before."
    if found == _run(case, "run").peak:
        place = "08_boxed_run#run-holds-every-input"
        yield None, f"{peaks}, which is the peak of `run`, a method that holds every input.", place
    if found == _run(case, gradients=True).peak:
        place = "09_profiling#who-asks-for-gradients"
        yield None, f"{peaks}, which is the peak of a run that keeps values for gradients.", place
    if found == sum(store.nbytes for store in run.stores if not store.stored):
        yield None, f"{peaks}, which is the size of all values together, as if none was freed."
    if mistake := _mistake(case, run, found):
        yield None, f"{peaks}, which {mistake}."
    node = case.before.nodes[run.peak_step or 0]
    parts = len(made.stores) if (made := run.values[node.index]) else 0
    several = f", whose result has {parts} tensors" if parts > 1 else ""
    yield None, f"{peaks}. The run reaches its peak at node `{node.name}`{several}."


CHECK = Check((three_numbers, nodes_counted, flops_counted, peak_measured))
