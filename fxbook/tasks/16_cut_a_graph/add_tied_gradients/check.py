"""Add up the gradients that the parts have for each weight."""

from __future__ import annotations

import functools
import itertools

import torch
from torch import Tensor, nn

from fxbook.cases import Check
from fxbook.cases.values import Value, difference, encode
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

# A wrong sum is explained as a sum of some of at most this many gradients.
_MOST_SUMMED = 6


def totals(model: nn.Module, found: list[dict[str, Tensor | None]]) -> dict[str, Tensor | None]:
    """For each name in ``named_parameters()``, the sum of the gradients in all parts, under any name."""
    one_name = {id(weight): name for name, weight in model.named_parameters()}
    result: dict[str, Tensor | None] = dict.fromkeys(one_name.values())
    for part in found:
        for name, gradient in part.items():
            first = one_name[id(model.get_parameter(name))]
            if gradient is not None:
                so_far = result[first]
                result[first] = gradient if so_far is None else so_far + gradient
    return result


def _where(model: nn.Module, found: list[dict[str, Tensor | None]], name: str) -> str:
    """Which parts have a gradient of a parameter, and under which names."""
    weight = model.get_parameter(name)
    where = ", ".join(
        f"part {place} has the gradient of `{other}`"
        for place, part in enumerate(found)
        for other, gradient in part.items()
        if gradient is not None and model.get_parameter(other) is weight
    )
    return f"P{where[1:]}" if where else ""


def _own(model: nn.Module, name: str) -> str:
    """A remark on the gradient that the model holds, if it holds one."""
    return "" if model.get_parameter(name).grad is None else " The `grad` that the model holds does not count."


def _returned(case: CaseView) -> Value:
    match case.value:
        case {"dict": [["returned", value], ["changed", _]]}:
            return value
    return None


def _what_it_is(value: Value, model: nn.Module, found: list[dict[str, Tensor | None]], name: str) -> str:
    """The sum or gradient that a wrong value equals, in words; empty if there is none."""
    known = {
        f"the gradient of `{other}` in part {place}": gradient
        for place, part in enumerate(found)
        for other, gradient in part.items()
    }
    known |= {f"the sum of `{other}`": total for other, total in totals(model, found).items()}
    count = _where(model, found, name).count("has the gradient")
    known[f"the sum divided by {count}"] = totals(model, found)[name] / count
    named = [
        (f"`{other}` in part {place}", gradient)
        for place, part in enumerate(found)
        for other, gradient in part.items()
        if gradient is not None and gradient.shape == model.get_parameter(name).shape
    ][:_MOST_SUMMED]
    for size in range(2, len(named) + 1):
        for chosen in itertools.combinations(named, size):
            what = " and ".join(what for what, _ in chosen)
            known[f"the sum of the gradients of {what}"] = functools.reduce(torch.add, [one for _, one in chosen])
    return next((f": it is {what}" for what, one in known.items() if not difference(value, encode(one))), "")


@rule
def sums_of_gradients(case: CaseView) -> Found:
    """The answer maps each parameter to the sum of its gradients, or to ``None``."""
    model, found = case.arguments
    answer, expected = table_of(_returned(case)), totals(model, found)
    if answer is None:
        yield None, "The answer is not a dict with parameter names as keys."
        return
    for name, total in expected.items():
        if name not in answer:
            frozen = "" if model.get_parameter(name).requires_grad else ", which must include frozen weights"
            yield None, f"`{name}` is missing from the answer{frozen}."
        elif total is None and answer[name] is not None:
            yield None, f"No part has a gradient of `{name}`, but the answer is not None.{_own(model, name)}"
        elif total is not None and answer[name] is None:
            yield None, f"A part has a gradient of `{name}`, but the answer is None."
        elif differs := difference(answer[name], encode(total), f"the value for `{name}`"):
            known = _what_it_is(answer[name], model, found, name) or f": {differs}"
            where = f"{_where(model, found, name)}.{_own(model, name)}"
            yield None, f"The value for `{name}` is not the sum of the gradients of this weight{known}. {where}"
    for name in answer:
        if name not in expected:
            yield None, f"`{name}` is in the answer, but `named_parameters()` has no such name."


@rule
def gradients_left_alone(case: CaseView) -> Found:
    """The gradients in ``found`` are unchanged."""
    match case.value:
        case {"dict": [_, ["changed", [str(what), *_]]]}:
            yield None, f"`found` has been changed: {what} is different from before."


CHECK = Check((sums_of_gradients, gradients_left_alone, input_unchanged))
