"""Count the bytes that are alive at each node."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from torch import fx

from fxbook.cases import Check
from fxbook.rules.returned import numbers_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView
from fxbook.stepping.run.record import Method, RunRecord, record_run

from .cases import kept_for_gradients

_UNITS = {"MiB": 2**20, "KiB": 2**10, "MB": 10**6, "kB": 10**3}


@rule
def bytes_alive(case: CaseView) -> Found:
    """For each node, the bytes that are alive when its result is made and nothing was freed yet."""
    numbers = numbers_of(case.value)
    if numbers is None:
        yield None, "A list of numbers was asked, the bytes alive at each node."
        return
    traced, *inputs = case.arguments
    run = _recorded(traced, inputs)
    if len(numbers) != len(run.during):
        yield None, f"The list has {len(numbers)} numbers: one for each of the {len(run.during)} nodes was asked."
    elif numbers != list(run.during):
        yield from _at_another_moment(numbers, run)
        yield from _of_another_run(numbers, run, traced, inputs)
        yield from _first_difference(case, numbers, run)


def _recorded(traced: fx.GraphModule, inputs: list[Any], method: Method = "run", gradients: bool = False) -> RunRecord:
    """A run in which each input counts from its own node: the recorder counts them all from the first."""
    with torch.set_grad_enabled(gradients):
        run = record_run(traced, traced.graph, inputs, method)
    given = [node.op == "placeholder" for node in traced.graph.nodes]
    to_come = [
        sum(run.stores[store].nbytes for store, owner in run.owner.items() if given[owner] and owner > step)
        for step in range(len(run.during))
    ]
    return dataclasses.replace(
        run,
        during=tuple(held - less for held, less in zip(run.during, to_come, strict=True)),
        after=tuple(held - less for held, less in zip(run.after, to_come, strict=True)),
    )


def _at_another_moment(numbers: list[float], run: RunRecord) -> Found:
    """Of the same run: mistakes that explain each number of the list."""
    if numbers == list(run.after):
        yield None, "The bytes are those left after values were freed: those alive before that were asked."
    if numbers in ([0, *run.after[:-1]], [run.during[0], *run.after[:-1]]):
        yield None, "Each number is of the moment before its node made a result: that result was to be counted."
    for unit, size in _UNITS.items():
        if all(abs(number * size - held) < 1e-3 * held for number, held in zip(numbers, run.during, strict=True)):
            yield None, f"The numbers are {unit}: bytes were asked."
    times = numbers[0] / run.during[0]
    if times > 1 and all(number == times * held for number, held in zip(numbers, run.during, strict=True)):
        yield None, f"Each number is {times:g} times the bytes: a storage tells its size in bytes, not in elements."
    if numbers == _never_let_go(run):
        yield None, "Nothing is freed in the answer: a value was to count no longer than it is alive."


def _never_let_go(run: RunRecord) -> list[int]:
    """The bytes at each node if every storage stayed."""
    met: set[int] = set()
    held = []
    for value in run.values:
        met.update(value.stores if value else ())
        held.append(sum(run.stores[number].nbytes for number in met if not run.stores[number].stored))
    return held


def _of_another_run(numbers: list[float], run: RunRecord, traced: fx.GraphModule, inputs: list[Any]) -> Found:
    """Runs that explain each number of the list."""
    if numbers == list(_recorded(traced, inputs, "boxed_run").during):
        yield None, "Inputs are freed after their last user in the answer: the caller holds them to the end."
    with_gradients = _recorded(traced, inputs, gradients=True)
    if numbers == list(with_gradients.during) and with_gradients.during != run.during:
        kept = "The bytes are those of a run that keeps values for gradients: a run without gradients was asked."
        yield None, kept, "09_profiling#who-asks-for-gradients"


def _first_difference(case: CaseView, numbers: list[float], run: RunRecord) -> Found:
    for node, number, held in zip(case.before, numbers, run.during, strict=True):
        if number == held:
            continue
        more, value = number > held, run.values[node.index]
        why = ""
        if more and value and any(run.stores[store].stored for store in value.stores):
            why = " Parameters and buffers were not to be counted, nor views of them."
        elif node.op == "placeholder":
            why = " Inputs count, from their own node to the end, with all tensors that they hold."
        elif not more and value and len(value.stores) > 1:
            why = f" Its result holds {len(value.stores)} tensors, each with memory of its own: all of them count."
        elif more and node.target.endswith(kept_for_gradients.__name__):
            why = " This node ran with gradients enabled: a run without gradients was asked."
        elif more:
            why = " Memory that several tensors share counts once, and a value counts no longer than it is alive."
        elif value and any(run.owner[store] < node.index for store in value.stores):
            why = " A view holds the whole memory that it is a view of, as long as it is alive."
        else:
            why = " The result counts with the values that the node uses, each with its own memory: none is freed yet."
        yield node, f"Bytes alive at `{node.name}`: {held:,.0f}; you say {number:,.0f}.{why}"


CHECK = Check((bytes_alive,))
