"""Read it: a graph of the network as it computes in eval mode, apart from the network."""

from __future__ import annotations

import inspect
from typing import Any

from torch import nn

from fxbook.asking import Check
from fxbook.asking.explained import lints, recompiled
from fxbook.asking.predicates import input_unchanged, same_result
from fxbook.asking.rule import Found, rule
from fxbook.asking.view import CaseView

FLAG = "features"


def as_in_eval(model: nn.Module, *inputs: Any) -> Any:
    """What the model computes when it is used, not trained."""
    return model.eval()(*inputs)


@rule("05_control_flow_limits#fix-an-argument-concrete_args")
def flag_is_gone(case: CaseView) -> Found:
    """The flag is no input, and nothing checks it."""
    for node in case.nodes:
        if node.op == "placeholder" and node.target.startswith(FLAG):
            yield node, f"is an input for the flag `{FLAG}`, whose value is fixed"
        if FLAG in node.call and node.op != "call_module":
            yield node, f"still checks the flag: `{node.call}`"


@rule
def other_inputs_stay(case: CaseView) -> Found:
    """The other inputs have their names, their order and their defaults."""
    parameters = inspect.signature(case.model.forward).parameters.values()
    asked = [(one.name, one.default is not inspect.Parameter.empty) for one in parameters if one.name != FLAG]
    found = [(node.target, bool(node.positional)) for node in case.nodes if node.op == "placeholder"]
    for place, (name, has_default) in enumerate(asked):
        if place >= len(found) or found[place][0] != name:
            yield None, f"Input {place + 1} of the result is not `{name}`: the inputs of the model were asked."
            return
        if found[place][1] != has_default:
            yield None, f"Input `{name}` {'has lost its' if has_default else 'has got a'} default."
    if len(found) > len(asked):
        yield None, f"Input `{found[len(asked)][0]}` is none of the model's."


@rule
def own_checks_stay(case: CaseView) -> Found:
    """What the model checks itself with ``torch._assert`` is checked in the graph."""
    if getattr(case.model, "checks_itself", False) and not any(node.target == "torch._assert" for node in case.nodes):
        yield None, "The check that the model makes with `torch._assert` is gone."


@rule("00_first_graph#what-the-two-modules-share")
def apart_from_the_model(case: CaseView) -> Found:
    """The weights and buffers are copies, so that no edit of the result reaches the model."""
    for name, origin in case.shared.items():
        if origin is not None:
            yield None, f"`{name}` of the result is the model's own tensor: a copy was asked."


@rule("00_first_graph#what-the-two-modules-share")
def names_kept(case: CaseView) -> Found:
    """Each weight has the qualified name that it has in the model, so that a checkpoint fits."""
    for name in case.shared:
        if name not in case.weights:
            yield None, f"The result has a weight `{name}`, a name that the model does not have."


CHECK = Check(
    (
        lints,
        recompiled,
        input_unchanged,
        flag_is_gone,
        other_inputs_stay,
        own_checks_stay,
        same_result,
        apart_from_the_model,
        names_kept,
    ),
    expected=as_in_eval,
)
