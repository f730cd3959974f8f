"""What the exercises of chapter 08 demand of a run: what its nodes read, what was alive meanwhile, and what is left."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import torch

from fxbook.asking.rule import Violation
from fxbook.asking.values import Value, difference, encode
from fxbook.asking.view import CaseView
from fxbook.checks.properties_08 import last_reader, needed

_HERE = "08_boxed_run"


@dataclasses.dataclass(frozen=True)
class Run:
    """What ``used_08.run_watched`` wrote down of a run.

    ``steps`` has the nodes that computed, in order, each with the names of the values alive; ``astray`` a node that got
    another value than it reads; ``left`` is how many inputs were left in what was handed over, ``held`` the values
    alive when the result was dropped, ``taken`` the wrong lengths of a list that raised nothing.
    """

    steps: list[tuple[str, list[str]]]
    astray: list[Value]
    result: Value
    left: int
    held: list[str]
    taken: list[int]


def observed(case: CaseView) -> Run | None:
    """The run as it was written down, or ``None`` for data of another form."""
    match case.value:
        case {
            "dict": [
                ["steps", list(steps)],
                ["astray", list(astray)],
                ["result", result],
                ["left", int(left)],
                ["held", list(held)],
                *rest,
            ]
        }:
            named = [(step, alive) for item in steps for step, alive in _pairs(item)]
            taken = rest[0][1] if rest else []
            if len(named) == len(steps) and _all_text(held):
                return Run(named, astray, result, left, held, taken)
    return None


def _pairs(item: Value) -> Iterator[tuple[str, list[str]]]:
    match item:
        case {"tuple": [str(step), list(alive)]} if _all_text(alive):
            yield step, alive


def _all_text(items: list[Value]) -> bool:
    return all(isinstance(item, str) for item in items)


def keeps_to_env(case: CaseView) -> Violation | None:
    """No node is looked up, or deleted, where it is not."""
    match case.value:
        case {"dict": [["not in env", str(name)]]}:
            message = (
                f"The run ends with KeyError: {name}. `{name}` is looked up or deleted in `env`, and is not there."
            )
            if name == "output":
                message += " `run` takes the result from there, last of all."
            return Violation(message)
    return None


def reads_what_was_handed_over(case: CaseView) -> Violation | None:
    """Each node computes from the very inputs and results that it reads."""
    run = observed(case)
    for item in run.astray if run else ():
        match item:
            case {"tuple": [str(step), str(read), ""]}:
                other = f"Node `{step}` was given a tensor in other memory than that of `{read}`"
                return Violation(f"{other}: a copy takes memory once more.")
            case {"tuple": [str(step), str(read), str(found)]}:
                return Violation(f"Node `{step}` reads `{read}`, but was given `{found}`.")
    return None


def result_is_right(case: CaseView) -> Violation | None:
    """Every node ran once and in order, and the run gave what the model gives."""
    run = observed(case)
    if run is None:
        return Violation("The answer could not be run.")
    asked, ran = list(needed(case.before)), [step for step, _ in run.steps]
    for step in asked:
        if step not in ran:
            return Violation(f"Node `{step}` did not run: every node was to run, once and in order.")
        if ran.count(step) > 1:
            return Violation(f"Node `{step}` ran more than once.")
    if ran != asked:
        return Violation("The nodes ran in another order than they have in the list.")
    model, inputs = case.arguments
    with torch.no_grad():
        expected = encode(model(*inputs))
    if differs := difference(run.result, expected):
        return Violation(f"The result is not that of the model: {differs}.")
    return None


def list_is_empty(case: CaseView) -> Violation | None:
    """The list that was handed over is empty after the run."""
    return _empty(case, "list")


def nothing_left(case: CaseView) -> Violation | None:
    """The dict that was handed over is empty after the run."""
    return _empty(case, "dict")


def _empty(case: CaseView, kind: str) -> Violation | None:
    run = observed(case)
    if run is None or not run.left:
        return None
    said = f"{run.left} input{'' if run.left == 1 else 's'}"
    message = f"The {kind} still holds {said} after the run: it was to be emptied."
    return Violation(message, look=f"{_HERE}#a-box-that-is-emptied")


def let_go(case: CaseView) -> Violation | None:
    """While a node computes, nothing is alive but what it or a later node reads."""
    run, graph = observed(case), case.before
    must = needed(graph)
    for step, alive in run.steps if run else ():
        for name in alive:
            value = graph.named(name)
            if value is None or name in must.get(step, ()):
                continue
            kind = "input" if value.op == "placeholder" else "value"
            why = f"its last reader is `{last_reader(graph, value).name}`" if value.users else "no node reads it"
            return Violation(f"While node `{step}` computes, the {kind} `{name}` is alive: {why}.")
    return None


def nothing_held_after(case: CaseView) -> Violation | None:
    """When the run is over and its result dropped, nothing is alive."""
    run = observed(case)
    if run is None or not run.held:
        return None
    message = (
        f"The run is over and its result dropped, but `{run.held[0]}` is still alive: something of yours holds it."
    )
    return Violation(message, look=f"{_HERE}#what-stays-after-the-run")


def refuses_other_lengths(case: CaseView) -> Violation | None:
    """A list that is too long or too short raises."""
    run = observed(case)
    inputs = sum(node.op == "placeholder" for node in case.before)
    for length in run.taken if run else ():
        message = f"A list of {length} items is taken without an error, though the graph has {inputs} inputs."
        return Violation(message, look=f"{_HERE}#a-list-as-long-as-the-signature")
    return None
