"""Store a weight in eight bits, with a scale for each output channel."""

from __future__ import annotations

import torch
from torch import Tensor

from fxbook.cases import Check
from fxbook.cases.values import Value, decode_tensor, kind_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

# Half of the scale, with room for float32 rounding.
_HALF = 0.505


def _what(value: Value) -> str:
    """A description of an answer that is not a pair of plain tensors."""
    match value:
        case {"dict": list(items)}:
            return f"a dict with {len(items)} item{'' if len(items) == 1 else 's'}"
        case {"tuple": list(parts)} | list(parts):
            return f"a {'list' if value is parts else 'tuple'} of {', '.join(map(kind_of, parts)) or 'nothing'}"
    return kind_of(value)


def _pair(case: CaseView) -> tuple[Tensor, Tensor] | None:
    """The two tensors in the answer; ``None`` if the answer is not a pair of tensors."""
    match case.value:
        case {"tuple": [first, second]} | [first, second]:
            try:
                return decode_tensor(first), decode_tensor(second)
            except (TypeError, ValueError, RuntimeError, KeyError, AttributeError):
                return None
    return None


@rule
def right_form(case: CaseView) -> Found:
    """The answer is a pair of tensors: int8 values of the weight's shape, and a scale for each output channel."""
    weight, transposed = case.arguments
    pair = _pair(case)
    if pair is None:
        yield None, f"The answer is {_what(case.value)}, not a pair of plain tensors."
        return
    values, scale = pair
    if values.dtype != torch.int8:
        yield None, f"The values have dtype `{str(values.dtype).removeprefix('torch.')}`, not `int8`."
    if values.shape != weight.shape:
        yield None, f"The values have the shape {tuple(values.shape)}, but the weight has {tuple(weight.shape)}."
    outputs = weight.shape[1 if transposed else 0]
    expected = (1, outputs) if transposed else (outputs, 1)
    if scale.shape != expected:
        yield None, f"The scale has the shape {tuple(scale.shape)}, not {expected}: one number for each output channel."
    if not scale.is_floating_point():
        yield None, "The scale is not a tensor of floating-point numbers."


def _first(where: Tensor) -> tuple[tuple[int, ...], str]:
    """The position of the first element that is true, and a remark on how many elements are true."""
    count = f"; {int(where.sum())} of {where.numel()} elements are off by that much" if int(where.sum()) > 1 else ""
    return tuple(where.nonzero()[0].tolist()), count


@rule
def within_half_the_scale(case: CaseView) -> Found:
    """The product differs from the weight by at most half the channel's scale; each channel's largest value is 127."""
    weight, transposed = case.arguments
    values, scale = _pair(case) or (weight, weight)
    bad = ~(scale.isfinite() & (scale > 0))
    if bool(bad.any()):
        place, _ = _first(bad)
        yield None, f"A scale is not a finite number above zero: that of channel {max(place)} is {scale[place]:.4g}."
        return
    inputs = 0 if transposed else 1
    off = (values.double() * scale.double() - weight.double()).abs()
    if bool((values == -128).any()):
        yield None, f"The value at {list(_first(values == -128)[0])} is -128: values go from -127 to 127."
    if bool((off > _HALF * scale.double()).any()):
        place, count = _first(off > _HALF * scale.double())
        value, size = int(values[place]), float(scale.expand_as(weight)[place])
        shown = f"at {list(place)} it is {value} * {size:.4g}, and the weight there is {float(weight[place]):.4g}"
        yield None, f"An element of `values * scale` is off by more than half the scale of its channel: {shown}{count}."
    largest = values.int().abs().amax(inputs, keepdim=True)
    wrong = (largest != 127) & (weight != 0).any(inputs, keepdim=True)
    if bool(wrong.any()):
        place, _ = _first(wrong)
        found = f"in channel {max(place)} it is {int(largest[place])}"
        yield None, f"The largest absolute value of a channel is not 127: {found}."


CHECK = Check((right_form, within_half_the_scale))
