"""Check the times of each node of a graph, one for each run."""

from __future__ import annotations

import itertools
from collections import Counter

from fxbook.cases import Check
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import node_in, numbers_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import A_CLOCK, close
from .cases import Timed, swapped


@rule
def times_of_each_node(case: CaseView) -> Found:
    """The answer is a dict that maps the name of each node to a list of seconds."""
    table = table_of(case.value)
    if node_in(case.value) is not None:
        yield None, "The keys of the dict are nodes: they should be the names of the nodes."
    if table is None or any(numbers_of(item) is None for item in table.values()):
        yield None, "The answer is not a dict that maps the name of each node to a list of seconds."
        return
    names = [node.name for node in case.before]
    for name in names:
        if name not in table:
            yield None, f"The dict has no times for node `{name}`: it should have times for every node of the graph."
    for name in table:
        if name not in names:
            yield None, f"The dict has times for `{name}`, which is not a node of the graph."


@rule(A_CLOCK)
def without_the_first_run(case: CaseView) -> Found:
    """Each node has ``runs`` times, and none of them is from a first call."""
    model = case.model
    assert isinstance(model, Timed)
    for name, (cost, seconds) in _measured(case).items():
        if cost and any(close(second, 40 * cost) for second in seconds):
            yield None, f"The times of `{name}` include that of the first run: {40 * cost:.3g} s."
        if len(seconds) != model.runs:
            yield None, f"Node `{name}` has {len(seconds)} times, but `runs` is {model.runs}, without the first run."


@rule
def on_the_clock(case: CaseView) -> Found:
    """Each time is the time that passed on the clock while the node ran; the rule knows how long each call takes."""
    measured = _measured(case)
    callers = Counter(node.target for node in case.before)
    for node in case.before:
        cost, seconds = measured[node.name]
        if any(second < 0 for second in seconds):
            yield None, f"A time of `{node.name}` is negative: subtract the start from the end."
        elif cost:
            yield from _wrong_calls(node.name, seconds, cost, callers[node.target])
        elif any(seconds):
            yield None, _not_measured(node.name, max(seconds)), A_CLOCK


def _wrong_calls(name: str, seconds: list[float], cost: float, callers: int) -> Found:
    """Times that are not those of the node's calls; ``callers`` is how many nodes call the same function."""
    factors = {second: _factor(second, cost) for second in seconds}
    for second, factor in factors.items():
        if factor is None and _factor(second / 1000, cost) is not None:
            yield None, f"The times of `{name}` are in milliseconds, but the task asks for seconds.", A_CLOCK
        if factor is None:
            yield None, _not_measured(name, second), A_CLOCK
    calls = [swapped(factor) for factor in factors.values() if factor is not None]
    steps = {after - before for before, after in itertools.pairwise(sorted(calls))}
    if len(calls) < len(seconds):
        yield None, f"The times of `{name}` repeat a number: each run should have its own time."
    elif calls != sorted(calls):
        yield None, f"The times of `{name}` are not in the order of the runs."
    elif steps == {1} and callers > 1:
        yield None, f"Node `{name}` runs again and again in one run: each node should run once in each run.", A_CLOCK
    elif steps != {callers}:
        count = max(steps) // callers
        repeated = f"Node `{name}` runs {count} times in each run: it should run once."
        yield None, repeated if count > 1 else _not_measured(name, min(seconds)), A_CLOCK
    elif calls[0] >= 2 * callers:
        yield None, f"{calls[0] // callers} runs come before the first one in the list of `{name}`: only one should."


def _factor(second: float, cost: float) -> int | None:
    """By how many steps of ``Timed.growth`` a call took longer than its cost; ``None`` if it is no call's time."""
    factor = (second / cost - 1) / Timed.growth
    return round(factor) if 0.5 < factor < 1000 and abs(factor - round(factor)) <= 1e-3 else None


def _not_measured(name: str, second: float) -> str:
    return f"A time of `{name}` is not the time that passed on `clock` while that node ran on `inputs`: {second:.3g} s."


def _measured(case: CaseView) -> dict[str, tuple[float, list[float]]]:
    """For each node, the seconds that it takes and the seconds in the answer."""
    model, table = case.model, table_of(case.value) or {}
    assert isinstance(model, Timed)
    return {node.name: (model.costs.get(node.name, 0.0), numbers_of(table[node.name]) or []) for node in case.before}


CHECK = Check((times_of_each_node, without_the_first_run, on_the_clock, input_unchanged))
