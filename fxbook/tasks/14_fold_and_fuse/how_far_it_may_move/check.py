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


def allowed(layer: nn.Module, x: Tensor, dtype: torch.dtype) -> Tensor:
    """The most by which rounding may move each element of the result."""
    sizes = {name: part.detach().double().abs() for name, part in layer.named_parameters()}
    terms = sizes["weight"][0].numel() + ("bias" in sizes)
    return terms * torch.finfo(dtype).eps / 2 * torch.func.functional_call(layer, sizes, (x.double().abs(),))


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
    ratio = decode_tensor(case.value) / allowed(*case.arguments)
    usual = ratio.median()
    if bool((ratio / usual - 1).abs().max() > _NEAR) or not bool(ratio.isfinite().all()):
        where = (ratio / usual - 1).abs().flatten().argmax()
        place = tuple(int(index) for index in torch.unravel_index(where, ratio.shape))
        yield (
            None,
            "The elements are not proportional to the sums of the absolute values of their terms: relative to its sum, "
            f"the element at {place} is {float(ratio[place] / usual):.4g} times as large as most of the others.",
        )


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
