"""Read a network: a graph that computes what the network computes in eval mode, and shares nothing with it."""

from __future__ import annotations

import copy
import inspect
from typing import Any

from torch import fx, nn

from fxbook.cases import Check
from fxbook.cases.exercise import inputs_of
from fxbook.cases.running import values_inside
from fxbook.cases.values import Value, difference, encode, without_numbers
from fxbook.rules.explained import lints, recompiled
from fxbook.rules.families import Family
from fxbook.rules.predicates import input_unchanged, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

FLAG = "features"
_HAS_A_MODE = Family(
    "a layer that computes something else in training mode",
    modules=frozenset({f"torch.nn.{name}" for name in ("BatchNorm2d", "Dropout", "Dropout2d")}),
)


def as_in_eval(model: nn.Module, *inputs: Any) -> Any:
    """What the model computes in eval mode, with its flag fixed."""
    return model.eval()(*inputs, **{FLAG: False})


@rule
def flag_is_gone(case: CaseView) -> Found:
    """The flag is not an input, and nothing checks it."""
    for node in case.nodes:
        if node.op == "placeholder" and node.target.startswith(FLAG):
            yield node, f"is an input for the flag `{FLAG}`, whose value is fixed"
        if FLAG in node.call and node.op != "call_module":
            yield node, f"still checks the flag: `{node.call}`"


@rule
def other_inputs_stay(case: CaseView) -> Found:
    """The other inputs have the same names, order and defaults as in the model."""
    parameters = inspect.signature(case.model.forward).parameters.values()
    expected = [one for one in parameters if one.name != FLAG]
    found = [(node.target, node.positional) for node in case.nodes if node.op == "placeholder"]
    for place, one in enumerate(expected):
        if place >= len(found) or found[place][0] != one.name:
            is_now = "is missing" if place >= len(found) else f"is `{found[place][0]}`"
            yield None, f"Input {place + 1} of the result should be `{one.name}`, as in the model, but {is_now}."
            return
        default = [] if one.default is one.empty else [encode(one.default)]
        if len(found[place][1]) != len(default):
            yield None, f"Input `{one.name}` has {'lost its' if default else 'a new'} default."
        if repr(found[place][1]) != repr(default):
            yield None, f"The default of input `{one.name}` is not {one.default!r}, as in the model."
    if len(found) > len(expected):
        yield None, f"Input `{found[len(expected)][0]}` of the result is not an input of the model."


@rule
def own_checks_stay(case: CaseView) -> Found:
    """The ``torch._assert`` of the model is still in the graph."""
    if getattr(case.model, "checks_itself", False) and not any(node.target == "torch._assert" for node in case.nodes):
        yield None, "The check that the model makes with `torch._assert` is gone."


@rule("when_it_breaks/05_control_flow_limits#train-and-eval-change-nothing")
def branch_of_training(case: CaseView) -> Found:
    """The graph does not return the values that the model returns only in training mode."""
    training, inputs = copy.deepcopy(case.model).train(), inputs_of(case.case, case.seed)[0]
    trained, output = training(*inputs, **{FLAG: False}), (case.outputs or [None])[0]
    if isinstance(trained, tuple) and isinstance(output, dict) and len(output.get("tuple", ())) == len(trained):
        last = next((node for node in case.nodes if node.op == "output"), None)
        yield last, f"returns {len(trained)} values, as the model does in training mode"


@rule
def branch_of_the_flag(case: CaseView) -> Found:
    """The graph does not return what the model returns with the other value of the flag."""
    inputs, output = inputs_of(case.case, case.seed)[0], (case.outputs or [None])[0]
    other = encode(copy.deepcopy(case.model).eval()(*inputs, **{FLAG: True}))
    if output is not None and difference(output, other) is None:
        last = next((node for node in case.nodes if node.op == "output"), None)
        yield last, f"returns what the model returns with `{FLAG}=True`"


@rule("when_it_breaks/05_control_flow_limits#train-and-eval-change-nothing")
def layer_in_training(case: CaseView) -> Found:
    """The first layer that computes a wrong value does not depend on the mode."""
    inside, expected = case.inside(0), _in_eval(case)
    for node, value in zip(case.nodes, inside or [], strict=False):
        differs = difference(value, expected[node.target]) if value is not None and node.target in expected else None
        if differs and node in _HAS_A_MODE:
            yield node, f"does not compute what it computes in eval mode: {without_numbers(differs)}"
        if differs:
            return


def _in_eval(case: CaseView) -> dict[str, Value]:
    """By layer name, what each layer that is called exactly once computes in eval mode."""
    model = copy.deepcopy(case.model).eval()
    traced = fx.symbolic_trace(model, concrete_args={FLAG: False})
    # The flag is the next parameter after the given inputs.
    values = values_inside(traced, (*inputs_of(case.case, case.seed)[0], False), case.seed, 0)
    calls = [(node, value) for node, value in zip(traced.graph.nodes, values, strict=True) if node.op == "call_module"]
    targets = [node.target for node, _ in calls]
    return {str(node.target): value for node, value in calls if targets.count(node.target) == 1 and value is not None}


@rule("00_first_graph#what-the-two-modules-share")
def apart_from_the_model(case: CaseView) -> Found:
    """The weights and buffers are copies, so no edit to the result changes the model."""
    for name, origin in case.shared.items():
        if origin is not None:
            yield None, f"`{name}` of the result shares its memory with the model, but must be a copy."


@rule("00_first_graph#what-the-two-modules-share")
def names_kept(case: CaseView) -> Found:
    """The result has the weights and buffers of the model, under the same qualified names, so a checkpoint fits."""
    for name in case.shared:
        if name not in case.weights:
            yield None, f"The result has a weight `{name}`, but the model has no weight of this name."
    for name in case.model.state_dict():
        if name not in case.shared:
            yield None, f"The result does not have the model's `{name}`: a checkpoint of the model does not fit."


CHECK = Check(
    (
        lints,
        recompiled,
        input_unchanged,
        flag_is_gone,
        other_inputs_stay,
        own_checks_stay,
        apart_from_the_model,
        same_result.or_because(branch_of_training, branch_of_the_flag, layer_in_training),
        names_kept,
    ),
    expected=as_in_eval,
)
