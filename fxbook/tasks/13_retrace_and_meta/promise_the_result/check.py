"""Write the fake function of an operator."""

from __future__ import annotations

from typing import Any

from fxbook.cases import Check
from fxbook.cases.values import encode
from fxbook.rules.returned import numbers_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import gate


@rule
def keeps_the_promise(case: CaseView) -> Found:
    """The fake result has the shape, dtype, device and strides of the real one, no data, and its own memory."""
    told, real = table_of(case.value), gate(*case.arguments)
    if told is None or "kind" not in told:
        yield None, "The answer cannot be used as a fake function."
        return
    if told["kind"] not in ("fake", "real"):
        yield None, f"The result is not a tensor, but an object of class {told['kind']}."
        return
    if told["kind"] == "real":
        yield None, "The result is a real tensor: a fake function returns a tensor without data."
    if _sizes(told["shape"]) != list(real.shape):
        shapes = f"{_sizes(told['shape'])} in place of {list(real.shape)}"
        yield None, f"The shape of the result is not that of the operator's result: {shapes}."
    if told["dtype"] != encode(real.dtype):
        yield None, f"The dtype of the result is not that of the operator's result, {real.dtype}."
    if told["device"] != str(real.device):
        yield None, f"The device of the result is not that of the operator's result, {real.device}."
    if _sizes(told["stride"]) != list(real.stride()):
        strides = f"{_sizes(told['stride'])} in place of {list(real.stride())}"
        yield None, f"The shape is right, but the strides are not those of the operator's result: {strides}."
    if told["own"] is not True:
        yield None, "The result shares its memory with the argument: the operator's result does not."


def _sizes(value: Any) -> list[int] | None:
    numbers = numbers_of(value)
    return None if numbers is None else [int(number) for number in numbers]


CHECK = Check((keeps_the_promise,))
