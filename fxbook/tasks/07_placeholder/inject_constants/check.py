"""Constants replace some inputs of an interpreter."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from fxbook.cases import Check
from fxbook.cases.exercise import model_of
from fxbook.cases.values import Value, dict_items, difference, encode
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import entry
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import usable


@rule
def constants_injected(case: CaseView) -> Found:
    """In both runs, each input got its constant or, if it has none, the next of the values."""
    if entry(case.value, "stopped"):
        cause = "it asked for a value for an input that has a default and was left out"
        place = "07_placeholder#placeholder-returns-a-value-and-creates-nothing"
        yield None, f"The run ends in a StopIteration: {cause}.", place
    _, constants, values = case.arguments
    model = model_of(case.case, case.seed)
    others = [name for name in inspect.signature(model.forward).parameters if name not in constants]
    with torch.no_grad():
        orders = (values, values[::-1])
        expected = [encode(model(**constants, **dict(zip(others, order, strict=False)))) for order in orders]
    first, second = entry(case.value, "first"), entry(case.value, "second")
    environment = "07_placeholder#begin-with-an-environment"
    if problem := _problem(first, expected[0], constants):
        yield None, f"{problem[:1].upper()}{problem[1:]}.", environment if first is None else None
    if second is None:
        cause = "it began with the environment that the first run left behind"
        yield None, f"The second run returned None: {cause}.", environment
    if problem := _problem(second, expected[1], constants):
        yield None, f"In a second run, which got the values in reverse order, {problem}."


def _problem(result: Value, expected: Value, constants: dict[str, Any]) -> str | None:
    """What is wrong with the result of a run: the input with a wrong value, if the model returns its inputs by name."""
    if not all(isinstance(value, dict) and "dict" in value for value in (result, expected)):
        differs = difference(result, expected)
        return differs and f"the result is not the expected one: {differs}"
    got, right = dict_items(result), dict_items(expected)
    for key in right:
        if key not in got or difference(got[key], right[key]):
            other = next((k for k in right if k in got and difference(got[key], right[k]) is None), None)
            what = f"the value for `{other[1:-1]}`" if other else "another value"
            own = "the constant" if key[1:-1] in constants else "its own"
            return f"the input `{key[1:-1]}` gets {what}, not {own}"
    return None


CHECK = Check((usable, constants_injected, input_unchanged))
