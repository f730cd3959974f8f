"""Find the parameters that nothing uses."""

from __future__ import annotations

from torch import nn

from fxbook.cases import Check
from fxbook.cases.values import Value
from fxbook.graph.record import GraphRecord
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import names_in, repeated, unreadable


@rule
def unused_parameters(case: CaseView) -> Found:
    """The answer contains the name of each parameter that the graph does not use, once, in any order."""
    returned, _, _ = _returned_and_traces(case)
    yield from unreadable(returned)
    answer, expected = names_in(returned), never_reached(case.model, case.before)
    if set(answer) >= {name for name, _ in case.model.named_parameters()}:
        yield None, "The answer contains all parameters: do you compare a copy with the original?"
    for name in answer:
        if name not in expected:
            yield None, f"`{name}` is in the answer, but {_not_unused(case, name)}."
    yield from repeated(answer)
    for name in expected:
        if name not in answer:
            yield None, f"`{name}` is unused, but is not in the answer."


def never_reached(model: nn.Module, graph: GraphRecord) -> list[str]:
    """The names of the parameters that no node fetches and no called submodule contains."""
    held_as = dict(model.named_parameters(remove_duplicate=False))
    reached = set()
    for node in graph:
        if node.op == "call_module":
            reached |= {id(held) for held in model.get_submodule(node.target).parameters()}
        elif node.op == "get_attr":
            reached.add(id(held_as.get(node.target)))
    return [name for name, held in model.named_parameters() if id(held) not in reached]


def _not_unused(case: CaseView, name: str) -> str:
    held_as = dict(case.model.named_parameters(remove_duplicate=False))
    if name not in held_as:
        return "is not the name of a parameter of the model"
    first = next(other for other, parameter in held_as.items() if parameter is held_as[name])
    if first in never_reached(case.model, case.before):
        return f"is another name of `{first}`: a parameter is listed once, under its first name"
    if sum(parameter is held_as[name] for parameter in held_as.values()) > 1:
        return "the parameter also has another name, which is used"
    node = next((node for node in case.before if node.target in (name, name.rpartition(".")[0])), None)
    return f"a `{node.op}` {'fetches it' if node.op == 'get_attr' else 'uses it'}" if node else "is used"


@rule
def nothing_stored(case: CaseView) -> Found:
    """The model has no new attribute, such as a constant that the tracer stored on it."""
    _, held, _ = _returned_and_traces(case)
    for name in held:
        if name not in vars(case.model):
            yield None, f"The original model has a new attribute, `{name}`."


@rule
def no_gradient(case: CaseView) -> Found:
    """No parameter of the model has a gradient; none had one before."""
    _, _, with_gradient = _returned_and_traces(case)
    for name in with_gradient:
        yield None, f"The model that was given has been changed: `{name}` has a gradient."


def _returned_and_traces(case: CaseView) -> list[Value]:
    """What ``answer_and_traces`` returned."""
    return case.value["tuple"]


CHECK = Check((unused_parameters, input_unchanged, nothing_stored, no_gradient))
