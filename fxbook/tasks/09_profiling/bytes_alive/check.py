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

_UNITS = {"MiB": 2**20, "KiB": 2**10, "MB": 10**6, "kB": 10**3}


@rule
def bytes_alive(case: CaseView) -> Found:
    """The answer lists, for each node, the bytes alive when its result is computed and nothing has been freed yet."""
    numbers = numbers_of(case.value)
    if numbers is None:
        yield None, "The answer is not a list with the number of bytes alive at each node."
        return
    traced, *inputs = case.arguments
    run = _recorded(traced, inputs)
    if len(numbers) != len(run.during):
        yield None, f"The list has {len(numbers)} numbers, but the graph has {len(run.during)} nodes."
    elif numbers != list(run.during):
        yield from _at_another_moment(numbers, run)
        yield from _of_another_run(numbers, run, traced, inputs)
        yield from _first_difference(case, numbers, run)


def _recorded(traced: fx.GraphModule, inputs: list[Any], method: Method = "run", gradients: bool = False) -> RunRecord:
    """A recorded run in which each input counts from its own node; the recorder counts inputs from the first node."""
    with torch.set_grad_enabled(gradients):
        run = record_run(traced, traced.graph, inputs, method)
    is_input = [node.op == "placeholder" for node in traced.graph.nodes]
    inputs_at = [(owner, run.stores[store].nbytes) for store, owner in run.owner.items() if is_input[owner]]

    def without_later_inputs(right: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(size - sum(less for owner, less in inputs_at if owner > step) for step, size in enumerate(right))

    return dataclasses.replace(run, during=without_later_inputs(run.during), after=without_later_inputs(run.after))


def _at_another_moment(numbers: list[float], run: RunRecord) -> Found:
    """Mistakes in counting that explain every number in the list."""
    if numbers == list(run.after):
        yield None, "Your numbers were taken after values had been freed: count before that."
    if numbers in ([0, *run.after[:-1]], [run.during[0], *run.after[:-1]]):
        yield None, "Each number was taken before its node had computed its result: the result counts, too."
    for unit, size in _UNITS.items():
        if all(abs(number * size - right) < 1e-3 * right for number, right in zip(numbers, run.during, strict=True)):
            yield None, f"The numbers are in {unit}, but the task asks for bytes."
    times = numbers[0] / run.during[0]
    if times > 1 and all(number == times * right for number, right in zip(numbers, run.during, strict=True)):
        yield None, f"Each number is {times:g} times the right one: a storage's size is in bytes, not in elements."
    met: set[int] = set()
    so_far = [met := met | {*(value.stores if value else ())} for value in run.values]
    if numbers == [sum(run.stores[store].nbytes for store in met if not run.stores[store].stored) for met in so_far]:
        yield None, "Your numbers count values that were freed: a value counts only while it is alive."


def _of_another_run(numbers: list[float], run: RunRecord, traced: fx.GraphModule, inputs: list[Any]) -> Found:
    """Other kinds of runs that explain every number in the list."""
    if numbers == list(_recorded(traced, inputs, "boxed_run").during):
        yield (
            None,
            "In your numbers, inputs are freed after their last use, but the caller keeps them alive to the end.",
        )
    with_gradients = _recorded(traced, inputs, gradients=True)
    if numbers == list(with_gradients.during) and with_gradients.during != run.during:
        kept = "Your numbers are those of a run that keeps values for gradients: run without gradients."
        yield None, kept, "09_profiling#who-asks-for-gradients"


def _first_difference(case: CaseView, numbers: list[float], run: RunRecord) -> Found:
    """The first wrong number, and the probable reason."""
    for node, number, right in zip(case.before, numbers, run.during, strict=True):
        if number == right:
            continue
        more, value = number > right, run.values[node.index]
        if more and value and any(run.stores[store].stored for store in value.stores):
            why = "Parameters and buffers do not count, and neither do views of them."
        elif node.op == "placeholder":
            why = "An input counts from its own node to the end, and so does every tensor in it."
        elif not more and value and len(value.stores) > 1:
            why = f"Its result contains {len(value.stores)} tensors, each with its own memory: all of them count."
        elif more:
            why = "Memory that several tensors share counts once, and a value counts only while it is alive."
        elif node.op != "output" and value and any(run.owner[store] < node.index for store in value.stores):
            why = "A view keeps alive all the memory of the tensor that it views."
        else:
            why = "The result counts, and so do the values that the node uses, which have not been freed yet."
        yield node, f"The number for `{node.name}` is wrong: {number:,.0f} instead of {right:,.0f} bytes. {why}"


CHECK = Check((bytes_alive,))
