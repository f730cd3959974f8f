"""Rules about a recorded run: which values its nodes got, which were alive at each step, and which remain after it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import torch

from fxbook.cases.values import Value, difference, encode
from fxbook.rules.returned import entry
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import last_user, needed


@dataclasses.dataclass(frozen=True)
class Run:
    """What ``run_watched`` recorded about a run.

    Attributes:
        steps: the nodes that computed, in order, each with the names of the values that were alive, and of the inputs
            that were still in the list or dict.
        astray: the nodes that got a different value from the one that they use.
        result: what the run returned.
        left: how many inputs were still in the list or dict after the run.
        held: the names of the values that were still alive after the result was dropped.
        taken: the wrong lengths of the list that raised no error.
    """

    steps: list[tuple[str, list[str], list[str]]]
    astray: list[Value]
    result: Value
    left: int
    held: list[str]
    taken: list[Value]


def run_of(case: CaseView) -> Run | None:
    """The recorded run, or ``None`` if the data does not describe a run."""
    match case.value:
        case {
            "dict": [
                ["steps", list(items)],
                ["astray", list(astray)],
                ["result", result],
                ["left", int(left)],
                ["held", list(held)],
                *more,
            ]
        }:
            steps = [step for item in items for step in _step(item)]
            taken = more[0][1] if more and isinstance(more[0][1], list) else []
            if len(steps) == len(items) and _all_text(held):
                return Run(steps, astray, result, left, held, taken)
    return None


def _step(item: Value) -> Iterator[tuple[str, list[str], list[str]]]:
    match item:
        case {"tuple": [str(step), list(alive), list(handed)]} if _all_text(alive + handed):
            yield step, alive, handed


def _all_text(items: list[Value]) -> bool:
    return all(isinstance(item, str) for item in items)


@rule
def keeps_to_env(case: CaseView) -> Found:
    """The run does not look up or delete a node that is not in ``env``."""
    match case.value:
        case {"dict": [["not in env", str(name)]]}:
            lookup = f"`{name}` is looked up in `env` or deleted from it, but is not there."
            last = " At the end, `run` takes the result from there." if name == "output" else ""
            yield None, f"The run ends with KeyError: {name}. {lookup}{last}"


@rule
def graph_kept(case: CaseView) -> Found:
    """The run does not change the graph."""
    if entry(case.value, "graph changed"):
        yield None, "The graph of the module has changed: a run should leave it as it was."


@rule
def uses_what_was_passed(case: CaseView) -> Found:
    """Each node gets the same tensor objects that were passed in or returned, not copies of them."""
    run = run_of(case)
    for item in run.astray if run else ():
        match item:
            case {"tuple": [str(step), str(read), ""]}:
                memory = f"Node `{step}` got a tensor that does not share memory with `{read}`"
                yield None, f"{memory}: a copy takes more memory."
            case {"tuple": [str(step), str(read), str(received)]}:
                yield None, f"Node `{step}` uses `{read}`, but got `{received}`."


@rule
def result_is_right(case: CaseView) -> Found:
    """Every node ran once, in order, and the result is that of the model."""
    run = run_of(case)
    if run is None:
        yield None, "The answer could not be run."
        return
    steps, ran = list(needed(case.before)), [step for step, *_ in run.steps]
    for step in steps:
        if step not in ran:
            yield None, f"Node `{step}` did not run: every node should run once, in order."
        if ran.count(step) > 1:
            yield None, f"Node `{step}` ran more than once: every node should run once, in order."
    if ran != steps:
        yield None, "The nodes did not run in list order."
    model, inputs = case.arguments
    with torch.no_grad():
        expected = encode(model(*inputs))
    if differs := difference(run.result, expected):
        yield None, f"The result is not that of the model: {differs}."


def left_in(case: CaseView, kind: str) -> Found:
    """After the run, the list or dict that was passed is empty."""
    run = run_of(case)
    if run and run.left:
        inputs = f"{run.left} input{'' if run.left == 1 else 's'}"
        yield None, f"The {kind} still holds {inputs} after the run: it should be empty."


@rule
def let_go(case: CaseView) -> Found:
    """While a node computes, the only values alive are those that it or a later node uses."""
    yield from alive_too_long(case)


def alive_too_long(case: CaseView, passed: str = "list", unused: bool = True) -> Found:
    """Values that are alive while a node computes, although neither this node nor a later one uses them.

    ``passed`` names the object that holds the passed inputs. ``unused`` includes values without users.
    """
    run, graph = run_of(case), case.before
    must = needed(graph)
    for step, alive, handed in run.steps if run else ():
        for name in alive:
            value = graph.named(name)
            if value is not None and name not in must.get(step, ()) and (unused or value.users):
                kind = "input" if value.op == "placeholder" else "value"
                why = f"its last user is `{last_user(graph, value).name}`" if value.users else "no node uses it"
                holder = f": the {passed} still holds it" if name in handed else ""
                yield None, f"While node `{step}` computes, the {kind} `{name}` is still alive, but {why}{holder}."


@rule("08_boxed_run#what-stays-after-the-run")
def nothing_held_after(case: CaseView) -> Found:
    """After the run, once its result is dropped, no value is alive."""
    run = run_of(case)
    for name in run.held if run else ():
        yield None, f"After the run, once its result is deleted, `{name}` is still alive: your code still refers to it."
