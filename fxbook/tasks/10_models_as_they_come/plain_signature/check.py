"""Check a module that gives a model a plain signature."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.cases.values import difference, encode
from fxbook.rules.returned import entry
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import batch


@rule
def a_module_is_returned(case: CaseView) -> Found:
    """The answer returns a module."""
    if kind := entry(case.value, "kind"):
        yield None, f"Your function returns an object of class {kind}: it should return a module."


@rule
def can_be_traced(case: CaseView) -> Found:
    """``symbolic_trace`` accepts the module."""
    if why := entry(case.value, "raised"):
        yield None, f"`symbolic_trace` rejects the module that you return: {why}."


@rule
def one_input(case: CaseView) -> Found:
    """The traced module has one input."""
    inputs = entry(case.value, "inputs")
    if len(inputs) != 1:
        yield None, f"The traced module has {len(inputs)} inputs: it should have one."


@rule
def the_entry(case: CaseView) -> Found:
    """The result is the entry that ``returns`` names, and has gradients."""
    model = case.model
    expected = encode(model(**{model.takes: batch()})[model.returns])
    if differs := difference(entry(case.value, "result"), expected):
        yield None, f"The result is not the entry that `returns` names: {differs}."
    if not entry(case.value, "differentiable"):
        yield None, "The result has the right numbers, but no gradients: autograd did not record how it was computed."


@rule
def weights_are_inside(case: CaseView) -> Found:
    """The module has the parameters of the model."""
    if entry(case.value, "weights") < len(list(case.model.parameters())):
        yield None, "The module does not have the weights of the model: the model should be a submodule of it."


@rule
def mode_is_kept(case: CaseView) -> Found:
    """The module is in the model's mode, and each module inside the model has kept its own."""
    modes = {True: "train", False: "eval"}
    if entry(case.value, "training") != case.model.training:
        ours, theirs = modes[entry(case.value, "training")], modes[case.model.training]
        yield None, f"The module is in {ours} mode, but the model is in {theirs} mode."
    if entry(case.value, "inside") != [part.training for part in case.model.modules()]:
        yield None, "The mode of a module inside the model has changed."


CHECK = Check((a_module_is_returned, can_be_traced, one_input, the_entry, weights_are_inside, mode_is_kept))
