"""Say how far rounding may go: the number of terms, the unit roundoff, and the sum of the absolute values."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from fxbook.cases import Check
from fxbook.cases.values import decode_tensor
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

TERMS = "14_fold_and_fuse#the-tolerance-follows-from-the-terms"
# What float32 rounds stays below the first, what float64 rounds below the second.
_NEAR, _EXACT = 1e-5, 1e-12


def allowed(layer: Any, x: Tensor, dtype: torch.dtype) -> Tensor:
    """The bound of each number of the result."""
    weight = layer.weight.detach().double().abs()
    bias = None if layer.bias is None else layer.bias.detach().double().abs()
    wide = x.double().abs()
    if isinstance(layer, torch.nn.Linear):
        total = torch.nn.functional.linear(wide, weight, bias)
    else:
        total = torch.nn.functional.conv2d(
            wide, weight, bias, layer.stride, layer.padding, layer.dilation, layer.groups
        )
    terms = weight.numel() // len(weight) + (bias is not None)
    return terms * torch.finfo(dtype).eps / 2 * total


@rule(TERMS)
def is_a_tensor(case: CaseView) -> Found:
    """The answer is a float64 tensor with a number for each of the result."""
    right = allowed(*case.arguments)
    match case.value:
        case {"tensor": "float64", "shape": list(shape), "data": list()}:
            if shape != list(right.shape):
                yield (
                    None,
                    f"The answer has the shape {tuple(shape)}, and the result of the layer {tuple(right.shape)}.",
                )
        case {"tensor": str(dtype)}:
            yield None, f"The answer is a tensor of {dtype}, and `float64` was asked."
        case _:
            yield None, "The answer is not a tensor."


@rule(TERMS)
def sums_the_sizes(case: CaseView) -> Found:
    """The bounds have the right proportion to one another: each has the sum of the absolute values of its terms."""
    ratio = decode_tensor(case.value) / allowed(*case.arguments)
    if bool((ratio / ratio.flatten()[0] - 1).abs().max() > _NEAR) or not bool(ratio.isfinite().all()):
        where = (ratio / ratio.median() - 1).abs().flatten().argmax()
        place = tuple(int(index) for index in torch.unravel_index(where, ratio.shape))
        larger = "larger" if ratio[place] > ratio.median() else "smaller"
        yield (
            None,
            "The numbers are in no fixed proportion to the sums of the absolute values: "
            f"the one at {place} is {larger} than others are.",
        )


@rule(TERMS)
def counts_the_terms(case: CaseView) -> Found:
    """The factor is the number of terms times the unit roundoff."""
    ratio = float((decode_tensor(case.value) / allowed(*case.arguments)).flatten()[0])
    if abs(ratio - 1) > _NEAR:
        yield None, f"Each number is {ratio:.4g} times what it should be: look at `n` and `u`."


@rule(TERMS)
def computes_in_float64(case: CaseView) -> Found:
    """The numbers are right to the last digits: rounding is measured with what rounds less."""
    off = float((decode_tensor(case.value) / allowed(*case.arguments) - 1).abs().max())
    if off > _EXACT:
        yield None, f"A number is off by {off:.0e} of itself, as if it were computed in `float32`."


CHECK = Check((is_a_tensor, sums_the_sizes, counts_the_terms, computes_in_float64))
