"""Four ways, 1: fix the argument."""

from __future__ import annotations

import inspect
import json
from typing import Any

import torch
from torch import fx

from fxbook.cases import Check
from fxbook.cases.exercise import model_of
from fxbook.graph.record import record
from fxbook.rules.explained import lints, no_dead_nodes, recompiled
from fxbook.rules.predicates import input_unchanged, same_result, shares_weights
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import guards
from .cases import Fixable


def other_inputs(model: Fixable) -> list[str]:
    """The names of a model's arguments, except the fixed one."""
    return [name for name in inspect.signature(model.forward).parameters if name != model.name]


def with_its_value(model: Fixable, *inputs: Any) -> Any:
    """What the model returns with the argument fixed; any missing inputs have their defaults."""
    given = dict(zip(other_inputs(model), inputs, strict=False))
    return model(**given, **{model.name: model.value})


@rule
def argument_gone(case: CaseView) -> Found:
    """The fixed argument is no longer an input, all others are, and no node checks the fixed argument."""
    fixed, others = case.model.name, other_inputs(case.model)
    inputs = {node.target: node for node in case.nodes if node.op == "placeholder"}
    for name in others:
        if name not in inputs:
            yield None, f"The input `{name}` is gone: only `{fixed}` should go."
    checks = guards(case)
    why = f", and node `{checks[-1].name}` still checks it: `eliminate_dead_code` keeps both" if checks else ""
    for name in (fixed, f"{fixed}_1"):
        if name in inputs:
            yield inputs[name], f"`{name}` is still an input{why}."
    for node in checks:
        yield node, "still checks the argument, which is no longer an input"
    if list(inputs) != others:
        takes, expected = (", ".join(f"`{name}`" for name in names) for names in (inputs, others))
        yield None, f"The result takes {takes}, not {expected}."


@rule
def rest_untouched(case: CaseView) -> Found:
    """The other inputs keep their defaults, and the model's own assertions are still there."""
    model = model_of(case.case, case.seed)
    traced = fx.symbolic_trace(model, concrete_args={model.name: model.value})
    before = {node.target: node.args for node in record(traced) if node.op == "placeholder"}
    for node in case.nodes:
        if node.op == "placeholder" and node.args != before[node.target]:
            has = f"has the default `{node.call.partition('=')[2]}`" if node.positional else "has lost its default"
            yield node, f"{has}: the other inputs should be as they were"
    texts = [json.dumps(node.args) for node in case.nodes]
    for message in own_checks(traced):
        if not any(message in text for text in texts):
            yield None, f"The model's own check, “{message}”, is gone: only the check of the argument should go."


@rule
def decided_by_the_value(case: CaseView) -> Found:
    """If the value is ``None``, no node computes with it: `forward` decided with `None`, not with a Proxy."""
    for node in case.nodes:
        if case.model.value is None and node.op == "call_function" and None in node.positional:
            took = f"`forward` did not run with `{case.model.name}` fixed, and took the branch for a tensor"
            yield node, f"computes with `None`: {took}"


def own_checks(traced: fx.GraphModule) -> list[str]:
    """The messages of the model's own assertions."""
    messages = [str(node.args[1]) for node in traced.graph.find_nodes(op="call_function", target=torch._assert)]
    return [message for message in messages if "has been specialized" not in message]


RESULT = same_result.or_because(decided_by_the_value)
CHECK = Check(
    (lints, recompiled, argument_gone, rest_untouched, RESULT, no_dead_nodes, input_unchanged, shares_weights),
    expected=with_its_value,
)
