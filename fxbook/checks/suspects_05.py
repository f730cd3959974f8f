"""Functions of chapter 05 whose trace stops, differs or is right, each with why, and where that is explained."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from fxbook.checks.exercise import Case


class Suspect(nn.Module):
    """A function to be judged, the batches to judge it on, what is true of its trace, and why."""

    def __init__(self, function: Callable[..., Any], verdict: str, why: str, look: str, batches: list[Tensor]) -> None:
        super().__init__()
        self.function, self.verdict, self.why, self.look, self.batches = function, verdict, why, look, batches

    def forward(self, x: Tensor) -> Any:
        return self.function(x)


def _positive() -> Tensor:
    return 0.5 + torch.rand(2, 3)


def _negative() -> Tensor:
    return -0.5 - torch.rand(2, 3)


def _suspect(function: Callable[..., Any], verdict: str, why: str, look: str, *batches: Callable[[], Tensor]) -> Case:
    def build() -> Suspect:
        return Suspect(function, verdict, why, look, [make() for make in batches or (_positive,)])

    return Case(f"`{function.__name__}`", build, lambda: (torch.ones(2, 3),))


# ---- tracing stops ---------------------------------------------------------------------------------------------------


def positive_or_zero(x: Tensor) -> Tensor:
    return x if x.sum() > 0 else torch.zeros_like(x)


def per_row(x: Tensor) -> Tensor:
    return x / len(x)


def ramp(x: Tensor) -> Tensor:
    for step in range(x.shape[0]):
        x = x + step
    return x


def root(x: Tensor) -> Tensor:
    return np.sqrt(x)


def checked(x: Tensor) -> Tensor:
    assert isinstance(x, torch.Tensor), "a tensor was expected"
    return x * 2


# ---- it can be traced, and differs -----------------------------------------------------------------------------------


def grams(x: Tensor) -> Tensor:
    return x if isinstance(x, torch.Tensor) else x * 1000


def shifted(x: Tensor, shift: Tensor | None = None) -> Tensor:
    return x if shift is None else x + 1


def doubled_if_positive(x: Tensor) -> Tensor:
    try:
        if x.sum() > 0:
            return x * 2
    except Exception:
        pass
    return x


def negative_if_named(x: Tensor) -> Tensor:
    return -x if hasattr(x, "label") else x


def square_or_flat(x: Tensor) -> Tensor:
    try:
        return x.view(2, 2)
    except RuntimeError:
        return x.flatten()


def with_its_double(x: Tensor) -> tuple[Tensor, Tensor]:
    return x, x * 2 if isinstance(x, torch.Tensor) else x * 3


def in_parts(x: Tensor) -> list[Tensor]:
    return [x.abs(), x.sign()] if isinstance(x, torch.Tensor) else [x.abs()]


def with_size(x: Tensor) -> dict[str, Any]:
    found = {"value": x * 2}
    if type(x) is torch.Tensor:
        found["size"] = x.abs()
    return found


def repeated(x: Tensor) -> Tensor:
    long = x.flatten().repeat(1000)
    return long if isinstance(x, torch.Tensor) else long.index_fill(0, torch.tensor([3000]), 0.0)


def precise(x: Tensor) -> Tensor:
    return x.double() if isinstance(x, torch.Tensor) else x


# ---- it can be traced, and is right ----------------------------------------------------------------------------------


def row_mean(x: Tensor) -> Tensor:
    return x.sum(dim=0) / x.shape[0]


def halved_three_times(x: Tensor) -> dict[str, Any]:
    for _ in range(3):
        x = x / 2
    return {"halved": x, "parts": [x.abs(), x.sign()]}


def with_root(x: Tensor) -> Tensor:
    return x * math.sqrt(2.0)


def doubled_in_place(x: Tensor) -> Tensor:
    x.mul_(2)
    return x + 1


_STOPS = "05_control_flow_limits#when-it-breaks"
_IS_NONE = "05_control_flow_limits#is-none-is-never-true"
_ISINSTANCE = "05_control_flow_limits#isinstance-type-and-match-describe-the-proxy"
_EXCEPT = "05_control_flow_limits#except-swallows-the-traceerror"
_ANSWERED = "05_control_flow_limits#python-answers-in-its-place"
_PROVEN = "05_control_flow_limits#what-python-does-leaves-no-node"

_SAME = "the traced function returns what the function returns, on every batch"
SUSPECTS = (
    _suspect(row_mean, "same", _SAME, _PROVEN, _positive, _negative),
    _suspect(positive_or_zero, "stops", "tracing it raises a TraceError", _STOPS, _positive, _negative),
    _suspect(grams, "differs", "the traced function multiplies by 1000", _ISINSTANCE),
    _suspect(per_row, "stops", "tracing it raises a RuntimeError", _STOPS),
    _suspect(ramp, "stops", "tracing it raises a TypeError", _STOPS),
    _suspect(shifted, "differs", "the traced function adds 1", _IS_NONE),
    _suspect(root, "stops", "tracing it raises a ValueError", _STOPS),
    _suspect(checked, "stops", "it is tracing that raises an AssertionError", _STOPS),
    _suspect(
        doubled_if_positive,
        "differs",
        "on the second of three batches the traced function does not double",
        _EXCEPT,
        *(_negative, _positive, _negative),
    ),
    _suspect(halved_three_times, "same", _SAME, _PROVEN, _negative, _positive),
    _suspect(with_root, "same", _SAME, _PROVEN),
    _suspect(negative_if_named, "differs", "the traced function changes the sign", _ANSWERED),
    _suspect(square_or_flat, "differs", "the traced function raises an error where the function does not", _EXCEPT),
    _suspect(with_its_double, "differs", "the second of the two tensors returned differs", _ISINSTANCE),
    _suspect(in_parts, "differs", "the function returns two tensors, the traced one a single one", _ISINSTANCE),
    _suspect(with_size, "differs", "the function returns a dict of two, the traced one a dict of one", _ISINSTANCE),
    _suspect(repeated, "differs", "one of the 6000 elements differs", _ISINSTANCE),
    _suspect(precise, "differs", "the function returns float64, the traced one float32", _ISINSTANCE),
    _suspect(
        doubled_in_place,
        "same",
        "on equal batches both return the same (the function writes into its batch)",
        _PROVEN,
        *(_positive, _negative),
    ),
)
