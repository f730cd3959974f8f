"""Round a weight to int8: a scale for each channel, and the nearest integers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from fxbook.cases import Check
from fxbook.cases.values import decode_tensor
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

_NEAR = 1e-4


def weight_of(case: CaseView) -> Tensor:
    """The weight of the given layer, with a row for each output channel."""
    layer: Any = case.arguments[0]
    return layer.weight.detach().flatten(1)


def parts(case: CaseView) -> tuple[Tensor, Tensor]:
    """The integers in the answer, with a row for each channel, and the scales."""
    match case.value:
        case {"tuple": [values, scales]} | [values, scales]:
            return decode_tensor(values).flatten(1), decode_tensor(scales)
    raise AssertionError("an earlier rule rejects everything that is not a pair")


@rule
def is_a_pair(case: CaseView) -> Found:
    """The answer is a pair: an int8 tensor of the weight's shape, and a float32 tensor with one scale per channel."""
    shape = list(case.arguments[0].weight.shape)  # type: ignore[attr-defined]
    expected = (("values", "int8", shape), ("scales", "float32", shape[:1]))
    pair = case.value.get("tuple") if isinstance(case.value, dict) else case.value
    if not isinstance(pair, list) or len(pair) != len(expected):
        yield None, "The answer is not a pair of tensors."
        return
    for (name, dtype, size), part in zip(expected, pair, strict=True):
        match part:
            case {"tensor": found, "shape": list(given)}:
                if found != dtype or given != size:
                    is_now = f"`{name}` is {found} of shape {tuple(given)}"
                    yield None, f"{is_now}, not {dtype} of shape {tuple(size)}."
            case _:
                yield None, f"`{name}` is not a tensor."


@rule
def has_the_scales(case: CaseView) -> Found:
    """Each scale is the one that the largest absolute value of its channel requires."""
    _, scales = parts(case)
    largest = weight_of(case).abs().amax(1)
    right = torch.where(largest > 0, largest / 127, 1)
    for channel, (found, expected) in enumerate(zip(scales.tolist(), right.tolist(), strict=True)):
        if not abs(found - expected) <= _NEAR * expected:
            most = f"the largest absolute value of the channel is {float(largest[channel]):.4g}"
            yield None, f"The scale of channel {channel} does not fit: it is {found:.4g}, and {most}."
            return


@rule
def is_rounded(case: CaseView) -> Found:
    """Each integer is the nearest one, or one of two that are equally near."""
    values, scales = parts(case)
    exact = weight_of(case) / scales[:, None]
    far = (values - exact).abs() > 0.5 + _NEAR * 100
    if bool(far.any()):
        channel, place = far.nonzero()[0].tolist()
        found = f"{int(values[channel, place])} for {float(exact[channel, place]):.4g}"
        yield None, f"In channel {channel}, a value is not rounded to the nearest integer: it is {found}."


CHECK = Check((is_a_pair, has_the_scales, is_rounded))
