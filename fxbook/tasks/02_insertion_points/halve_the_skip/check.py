"""Halve the skip and nothing else."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Check
from fxbook.graph.record import JSON
from fxbook.rules import explained
from fxbook.rules.explained import callers_input_stays, given_edited, lints, output_last, recompiled
from fxbook.rules.families import MUL, family
from fxbook.rules.predicates import no_dead_nodes, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..cases import FeedForward
from .cases import Scaled, SumOfInputs, TwoSkips

DIV = family("div", "truediv", "divide", "true_divide")


def halved(model: nn.Module, x: Tensor, *residuals: Tensor) -> Tensor:
    """The model with half of each input in its additions."""
    if isinstance(model, TwoSkips):
        [residual] = residuals
        hidden = model.mix(x) + model.mix(residual)
        return (hidden + x / 2) * (residual / 2 + x / 2) + x * residual
    if isinstance(model, Scaled):
        [value] = residuals
        other = (value + 2.0) * (value + x)
        return (model.mix(value) + value / 2) * x + model.shift - (value / 2 + 1.0) * other
    if isinstance(model, SumOfInputs):
        [y] = residuals
        return (x / 2 + y / 2) * y
    assert isinstance(model, FeedForward)
    return x * 0.5 + model.down(torch.relu(model.up(x)))


@rule
def only_additions_read_half(case: CaseView) -> Found:
    """Additions use no input of the model as it is; every other argument is as before."""
    now = case.now()
    for node, before in case.kept():
        is_addition = (before.op, before.target) == ("call_function", "operator.add")
        for index in dict.fromkeys(before.inputs):
            value = case.before.nodes[index]
            is_input = value.op == "placeholder"
            is_read = index in now and now[index].index in node.inputs
            if is_addition and is_input and is_read:
                yield node, f"still uses the input `{value.name}` whole: additions were to use half"
            elif not (is_addition and is_input) and not is_read:
                asked = (
                    "additions were to use half of an input" if is_input else "inputs of the model were to be halved"
                )
                yield node, f"no longer uses `{value.name}`: only {asked}"


@rule
def others_keep_the_input(case: CaseView) -> Found:
    """What is no addition uses each input as before; a node that uses itself is told first."""
    if any(node.index in node.inputs for node in case.nodes):
        return
    now = case.now()
    for node, before in case.kept():
        for index in () if before.target == "operator.add" else before.inputs:
            value = case.before.nodes[index]
            if value.op == "placeholder" and index in now and now[index].index not in node.inputs:
                yield node, f"no longer uses the input `{value.name}`, and is no addition: it was to keep the input"


@rule
def half_is_half(case: CaseView) -> Found:
    """What an addition uses in place of an input is half of it: a product with 0.5, or the input divided by 2."""
    for node in case.new():
        numbers = [_number(value) for value in [*node.positional, *(value for _, value in node.kwargs["dict"])]]
        halves = (node in MUL and 0.5 in numbers) or (node in DIV and 2.0 in numbers)
        read = next((case.nodes[index] for index in node.inputs if case.nodes[index].op == "placeholder"), None)
        if read and not halves:
            yield node, f"computes `{node.call}`: half of `{read.name}` was asked"


def _number(value: JSON) -> float | None:
    if isinstance(value, dict):
        return float(value["float"]) if "float" in value else None
    return float(value) if isinstance(value, int) else None


CHECK = Check(
    (
        lints.or_because(others_keep_the_input),
        recompiled,
        output_last,
        same_result.or_because(explained.no_dead_nodes, only_additions_read_half, callers_input_stays, half_is_half),
        callers_input_stays,
        no_dead_nodes,
        given_edited,
    ),
    expected=halved,
)
