"""Say how far rounding may go: the number of terms times the unit roundoff times the sum of absolute values."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Check
from fxbook.cases.values import decode_tensor
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

# Relative errors: rounding in float32 stays below the first, rounding in float64 below the second.
_NEAR, _EXACT = 1e-5, 1e-12
# Sums with signs lose digits, so an answer that computes one in float32 is compared less strictly.
_ALIKE = 1e-3


def allowed(layer: nn.Module, x: Tensor, dtype: torch.dtype) -> Tensor:
    """The most by which rounding may move each element of the result."""
    sizes = {name: part.detach().double().abs() for name, part in layer.named_parameters()}
    terms = sizes["weight"][0].numel() + ("bias" in sizes)
    return terms * torch.finfo(dtype).eps / 2 * torch.func.functional_call(layer, sizes, (x.double().abs(),))


def _signed(layer: nn.Module, x: Tensor, *kept: str, left_out: str = "") -> Tensor:
    """The sums of the terms if some parts keep their signs, and one part is left out."""
    parts = {name: part.detach().double() for name, part in {**dict(layer.named_parameters()), "input": x}.items()}
    parts = {name: part if name in kept else part.abs() for name, part in parts.items()}
    if left_out in parts:
        parts[left_out] = torch.zeros_like(parts[left_out])
    return torch.func.functional_call(layer, parts, (parts.pop("input"),))


def _mistake(value: Tensor, layer: nn.Module, x: Tensor) -> str | None:
    """Which mistake gives elements that are proportional to these, in words; ``None`` if no known mistake does."""
    every = _signed(layer, x, "weight", "bias", "input")
    ones = {name: torch.ones_like(part).double() for name, part in layer.named_parameters()}
    counts = torch.func.functional_call(layer, ones, (torch.ones_like(x).double(),))
    mistakes = {
        "the terms keep their signs": every,
        "the absolute value is that of the sum, not of each term": every.abs(),
        "the inputs keep their signs": _signed(layer, x, "input"),
        "the weights keep their signs": _signed(layer, x, "weight"),
        "the weights and the bias keep their signs": _signed(layer, x, "weight", "bias"),
        "the bias keeps its sign": _signed(layer, x, "bias"),
        "the bias is left out": _signed(layer, x, left_out="bias"),
        "`n` is not the same for each element": _signed(layer, x) * counts,
    }
    return next((words for words, wrong in mistakes.items() if _proportional(value / wrong, _ALIKE)), None)


def _proportional(ratio: Tensor, tolerance: float) -> bool:
    return bool(ratio.isfinite().all()) and bool((ratio / ratio.median() - 1).abs().max() <= tolerance)


@rule
def is_a_tensor(case: CaseView) -> Found:
    """The answer is a float64 tensor with the shape of the result."""
    expected = tuple(allowed(*case.arguments).shape)
    match case.value:
        case {"tensor": "float64", "shape": list(shape), "data": list()}:
            if tuple(shape) != expected:
                yield None, f"The answer has the shape {tuple(shape)}, but the result of the layer has {expected}."
        case {"tensor": str(dtype)}:
            yield None, f"The answer is a tensor of dtype `{dtype}`, not `float64`."
        case _:
            yield None, "The answer is not a tensor."


@rule
def sums_the_sizes(case: CaseView) -> Found:
    """The elements are proportional to the sums of the absolute values of their terms."""
    layer, x, dtype = case.arguments
    value = decode_tensor(case.value)
    ratio = value / allowed(layer, x, dtype)
    usual = ratio.median()
    said = "The elements are not proportional to the sums of the absolute values of their terms:"
    if _proportional(ratio, _NEAR):
        return
    if mistake := _mistake(value, layer, x):
        yield None, f"{said} {mistake}."
    else:
        where = (ratio / usual - 1).abs().flatten().argmax()
        place = tuple(int(index) for index in torch.unravel_index(where, ratio.shape))
        times = f"{float(ratio[place] / usual):.4g} times as large as most of the others"
        yield None, f"{said} relative to its sum, the element at {place} is {times}."


@rule
def counts_the_terms(case: CaseView) -> Found:
    """The sums are multiplied by the number of terms times the unit roundoff."""
    ratio = float((decode_tensor(case.value) / allowed(*case.arguments)).flatten()[0])
    if abs(ratio - 1) > _NEAR:
        yield None, f"Each element is {ratio:.4g} times what it should be: check `n` and `u`."


@rule
def computes_in_float64(case: CaseView) -> Found:
    """The elements are as exact as float64 allows."""
    off = float((decode_tensor(case.value) / allowed(*case.arguments) - 1).abs().max())
    if off > _EXACT:
        yield None, f"An element has a relative error of {off:.0e}, as if computed in `float32`."


CHECK = Check((is_a_tensor, sums_the_sizes, counts_the_terms, computes_in_float64))
