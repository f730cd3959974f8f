"""Write the fake function of an operator."""

from __future__ import annotations

from typing import Any

from fxbook.cases import Check
from fxbook.rules.returned import numbers_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import gate


@rule
def keeps_the_promise(case: CaseView) -> Found:
    """The fake result has the shape, dtype, device and strides of the real result, no data, and its own memory."""
    fake, real = table_of(case.value), gate(*case.arguments)
    if fake is None or "kind" not in fake:
        yield None, "The answer cannot be used as a fake function."
        return
    if fake["kind"] not in ("fake", "real"):
        yield None, f"The result is not a tensor, but an object of class {fake['kind']}."
        return
    if fake["kind"] == "real":
        yield None, "The result is a real tensor, but a fake function must return a tensor without data."
    if _sizes(fake["shape"]) != list(real.shape):
        shapes = f"{_sizes(fake['shape'])} instead of {list(real.shape)}"
        yield None, f"The shape of the result is not that of the operator's result: {shapes}."
    if fake["dtype"] != str(real.dtype):
        dtypes = f"{fake['dtype']} instead of {real.dtype}"
        yield None, f"The dtype of the result is not that of the operator's result: {dtypes}."
    if fake["device"] != str(real.device):
        devices = f"{fake['device']} instead of {real.device}"
        yield None, f"The device of the result is not that of the operator's result: {devices}."
    if _sizes(fake["stride"]) != list(real.stride()):
        strides = f"{_sizes(fake['stride'])} instead of {list(real.stride())}"
        yield None, f"The shape is right, but the strides are not those of the operator's result: {strides}."
    if fake["own"] is not True:
        yield None, "The result shares its memory with the argument, but the operator's result does not."


def _sizes(value: Any) -> list[int] | None:
    numbers = numbers_of(value)
    return None if numbers is None else [int(number) for number in numbers]


CHECK = Check((keeps_the_promise,))
