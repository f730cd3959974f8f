"""Round a weight to int8: the scale of each channel, and integers that are near enough."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from fxbook.cases import Check
from fxbook.cases.values import decode_tensor
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

ROUND = "18_quantise_a_graph#round-to-int8-scale-and-zero-point"
_NEAR = 1e-4


def weight_of(case: CaseView) -> Tensor:
    """The weight of the given layer, with a row for each output channel."""
    layer: Any = case.arguments[0]
    return layer.weight.detach().flatten(1)


def parts(case: CaseView) -> tuple[Tensor, Tensor]:
    """The integers, in rows, and the scales of the answer."""
    match case.value:
        case {"tuple": [values, scales]} | [values, scales]:
            return decode_tensor(values).flatten(1), decode_tensor(scales)
    raise AssertionError("an earlier rule rejects everything that is not a pair")


@rule(ROUND)
def is_a_pair(case: CaseView) -> Found:
    """The answer is an int8 tensor in the shape of the weight, and float32 scales."""
    shape = list(case.arguments[0].weight.shape)  # type: ignore[attr-defined]
    wanted = (("values", "int8", shape), ("scales", "float32", shape[:1]))
    pair = case.value.get("tuple") if isinstance(case.value, dict) else case.value
    if not isinstance(pair, list) or len(pair) != len(wanted):
        yield None, "The answer is not a pair of tensors."
        return
    for (name, dtype, size), part in zip(wanted, pair, strict=True):
        match part:
            case {"tensor": found, "shape": list(given)}:
                if found != dtype or given != size:
                    said = f"`{name}` is {found} of shape {tuple(given)}"
                    yield None, f"{said}, not {dtype} of shape {tuple(size)}."
            case _:
                yield None, f"`{name}` is not a tensor."


@rule(ROUND)
def has_the_scales(case: CaseView) -> Found:
    """Each channel has its own scale."""
    _, scales = parts(case)
    largest = weight_of(case).abs().amax(1)
    right = torch.where(largest > 0, largest / 127, 1)
    for channel, (found, wanted) in enumerate(zip(scales.tolist(), right.tolist(), strict=True)):
        if not abs(found - wanted) <= _NEAR * wanted:
            yield None, f"The scale of channel {channel} is {found:.4g}, which does not fit its values."
            return


@rule(ROUND)
def is_rounded(case: CaseView) -> Found:
    """Each integer is the nearest one, or one of two that are equally near."""
    values, scales = parts(case)
    far = (values * scales[:, None] - weight_of(case)).abs().amax(1) > scales * (0.5 + _NEAR * 100)
    if bool(far.any()):
        yield None, f"In channel {int(far.nonzero()[0])}, an integer is not the nearest one to its weight."


CHECK = Check((is_a_pair, has_the_scales, is_rounded))
