"""Give a model a plain signature."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.cases.values import Value, dict_items, difference, encode
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import batch


def told(case: CaseView, key: str) -> Value:
    """A part of what using the answer reported, or ``None``."""
    return dict_items(case.value).get(repr(key))


@rule
def a_module_is_returned(case: CaseView) -> Found:
    """The answer returns a module."""
    if kind := told(case, "kind"):
        yield None, f"Your function returns a {kind}: the task asks for a module."


@rule
def tracing_takes_it(case: CaseView) -> Found:
    """``symbolic_trace`` takes the module."""
    if why := told(case, "refused"):
        yield None, f"`symbolic_trace` rejects the module that you return: {why}."


@rule
def one_input(case: CaseView) -> Found:
    """The traced module has one input."""
    inputs = told(case, "inputs")
    if len(inputs) != 1:
        yield None, f"The traced module has {len(inputs)} inputs: it must have one."


@rule
def the_entry(case: CaseView) -> Found:
    """The result is the entry that was asked for."""
    model = case.model
    expected = encode(model(**{model.takes: batch()})[model.returns])
    if differs := difference(told(case, "result"), expected):
        yield None, f"The result is not the entry that `returns` names: {differs}."
    if not told(case, "differentiable"):
        yield None, "The result has the numbers of the entry that `returns` names, but autograd has lost track of it."


@rule
def weights_are_inside(case: CaseView) -> Found:
    """The parameters of the model are parameters of the module."""
    if told(case, "weights") < len(list(case.model.parameters())):
        yield None, "The module does not have the weights of the model: the model must be a submodule."


@rule
def mode_is_kept(case: CaseView) -> Found:
    """The module, and each part of the model, is in the model's mode."""
    modes = {True: "train", False: "eval"}
    if told(case, "training") != case.model.training:
        ours, theirs = modes[told(case, "training")], modes[case.model.training]
        yield None, f"The module is in {ours} mode, but the model is in {theirs} mode."
    if told(case, "inside") != [part.training for part in case.model.modules()]:
        yield None, "The mode of a module inside the model has changed."


CHECK = Check((a_module_is_returned, tracing_takes_it, one_input, the_entry, weights_are_inside, mode_is_kept))
