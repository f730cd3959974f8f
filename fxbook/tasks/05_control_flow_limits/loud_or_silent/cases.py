"""Functions whose traces are to be judged, and the batches to judge them on.

Each run makes the functions again, with random numbers and names. With some of them a function is traced correctly, and
with others it is not, so neither its code, its name nor its place gives the verdict away.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

# A failing call to a GraphModule needs this import, which would exceed an answer's time limit.
import torch._dynamo
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of
from fxbook.cases.nameless import nameless

Function = Callable[..., Any]


class Suspect(nn.Module):
    """A model that stores a function whose trace is to be judged, and the batches to judge it on."""

    def __init__(self, function: Function, batches: list[Tensor]) -> None:
        super().__init__()
        self.function, self.batches = function, batches

    def forward(self, x: Tensor) -> Any:
        return self.function(x)


def _positive() -> Tensor:
    return 0.5 + torch.rand(2, 3)


def _negative() -> Tensor:
    return -0.5 - torch.rand(2, 3)


def _suspect(name: str, make: Callable[[], Function], *batches: Callable[[], Tensor]) -> Case:
    def build() -> Suspect:
        return Suspect(nameless(make()), [make_batch() for make_batch in batches or (_positive,)])

    return Case(f"`{name}`", build, lambda: (torch.ones(2, 3),))


# ---- the functions, with parameters for their numbers and names ------------------------------------------------------


def _positive_or_zero(x: Tensor) -> Tensor:
    return x if x.sum() > 0 else torch.zeros_like(x)


def _per_row(x: Tensor) -> Tensor:
    return x / len(x)


def _ramp(x: Tensor) -> Tensor:
    for step in range(x.shape[0]):
        x = x + step
    return x


def _root(x: Tensor) -> Tensor:
    return np.sqrt(x)


def _checked(factor: float) -> Function:
    def function(x: Tensor) -> Tensor:
        assert isinstance(x, torch.Tensor), "a tensor was expected"
        return x * factor

    return function


def _scaled(eagerly: float, traced: float) -> Function:
    def function(x: Tensor) -> Tensor:
        return x * eagerly if isinstance(x, torch.Tensor) else x * traced

    return function


def _shifted(amount: float) -> Function:
    def function(x: Tensor, shift: Tensor | None = None) -> Tensor:
        return x if shift is None else x + amount

    return function


def _doubled_if_positive(x: Tensor) -> Tensor:
    try:
        if x.sum() > 0:
            return x * 2
    except Exception:
        pass
    return x


def _negative_if_it_has(name: str) -> Function:
    def function(x: Tensor) -> Tensor:
        return -x if hasattr(x, name) else x

    return function


def _viewed_or_flat(rows: int, columns: int) -> Function:
    def function(x: Tensor) -> Tensor:
        try:
            return x.view(rows, columns)
        except RuntimeError:
            return x.flatten()

    return function


def _with_a_multiple(eagerly: float, traced: float) -> Function:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        return x, x * eagerly if isinstance(x, torch.Tensor) else x * traced

    return function


def _in_parts(x: Tensor) -> list[Tensor]:
    return [x.abs(), x.sign()] if isinstance(x, torch.Tensor) else [x.abs()]


def _with_size(x: Tensor) -> dict[str, Any]:
    parts = {"value": x * 2}
    if type(x) is torch.Tensor:
        parts["size"] = x.abs()
    return parts


def _repeated(place: int) -> Function:
    def function(x: Tensor) -> Tensor:
        long = x.flatten().repeat(1000)
        return long if isinstance(x, torch.Tensor) else long.index_fill(0, torch.tensor([place]), 0.0)

    return function


def _precise(x: Tensor) -> Tensor:
    return x.double() if isinstance(x, torch.Tensor) else x


def _row_mean(x: Tensor) -> Tensor:
    return x.sum(dim=0) / x.shape[0]


def _halved(times: int) -> Function:
    def function(x: Tensor) -> dict[str, Any]:
        for _ in range(times):
            x = x / 2
        return {"halved": x, "parts": [x.abs(), x.sign()]}

    return function


def _with_root(square: float) -> Function:
    def function(x: Tensor) -> Tensor:
        return x * math.sqrt(square)

    return function


def _reshaped(eagerly: tuple[int, ...], traced: tuple[int, ...]) -> Function:
    def function(x: Tensor) -> Tensor:
        return x.reshape(eagerly if isinstance(x, torch.Tensor) else traced)

    return function


def _under_keys(eagerly: str, traced: str) -> Function:
    def function(x: Tensor) -> dict[str, Tensor]:
        keys = eagerly if isinstance(x, torch.Tensor) else traced
        return dict.fromkeys(keys.split(), x * 2)

    return function


def _arranged(eagerly: str, traced: str) -> Function:
    def function(x: Tensor) -> Any:
        form = eagerly if isinstance(x, torch.Tensor) else traced
        if form in ("rows", "tensor"):
            return [x[0], x[1]] if form == "rows" else x
        parts = [x.abs().flip(0) if form == "other" else x.abs(), x.sign()]
        return parts[:1] if form == "one" else parts

    return function


def _summed(eagerly: int, traced: int) -> Function:
    def function(x: Tensor) -> Tensor:
        return x.sum(eagerly if isinstance(x, torch.Tensor) else traced)

    return function


def _multiplied_in_place(factor: float) -> Function:
    def function(x: Tensor) -> Tensor:
        x.mul_(factor)
        return x + 1

    return function


# ---- the cases -------------------------------------------------------------------------------------------------------


def _number() -> float:
    return float(one_of(2, 3, 5, 7, 9))


USAGE = Usage(
    "compute",
    cases=(
        _suspect("row_mean", lambda: _row_mean, _positive, _negative),
        _suspect("positive_or_zero", lambda: _positive_or_zero, _positive, _negative),
        _suspect("grams", lambda: _scaled(1.0, one_of(10.0, 100.0, 1000.0))),
        _suspect("per_row", lambda: _per_row),
        _suspect("ramp", lambda: _ramp),
        _suspect("shifted", lambda: _shifted(_number())),
        _suspect("root", lambda: _root),
        _suspect("checked", lambda: _checked(_number())),
        _suspect("doubled_if_positive", lambda: _doubled_if_positive, _negative, _positive, _negative),
        _suspect("halved_three_times", lambda: _halved(one_of(2, 3, 4)), _negative, _positive),
        _suspect("with_root", lambda: _with_root(_number())),
        _suspect("negative_if_named", lambda: _negative_if_it_has(one_of("label", "title", "unit"))),
        _suspect("square_or_flat", lambda: _viewed_or_flat(2, 2)),
        _suspect("with_its_double", lambda: _with_a_multiple(_number(), 4.0)),
        _suspect("in_parts", lambda: _in_parts),
        _suspect("with_size", lambda: _with_size),
        _suspect("repeated", lambda: _repeated(one_of(1000, 3000, 5000))),
        _suspect("precise", lambda: _precise),
        _suspect("doubled_in_place", lambda: _multiplied_in_place(_number()), _positive, _negative),
        _suspect("slightly_more", lambda: _scaled(1.0, one_of(1.001, 1.002, 0.999))),
        _suspect("one_more_dimension", lambda: _reshaped(*one_of(((2, 3), (1, 2, 3)), ((1, 2, 3), (2, 3))))),
        _suspect("renamed", lambda: _under_keys(*one_of(("scores", "logits"), ("old", "new")))),
        _suspect("in_a_list", lambda: _arranged(*one_of(("one", "tensor"), ("tensor", "one")))),
        _suspect("in_rows", lambda: _arranged("rows", "tensor")),
        _suspect("one_part_more", lambda: _arranged("one", "two")),
        _suspect("one_key_more", lambda: _under_keys("scores", "scores logits")),
        _suspect("first_of_two", lambda: _arranged(*one_of(("two", "other"), ("other", "two")))),
        _suspect("summed", lambda: _summed(one_of(0, 1), one_of(2, 3, 5))),
        # The same code as above, with numbers and names for which the trace is right.
        _suspect("scaled_alike", lambda: _scaled(*2 * (_number(),))),
        _suspect("shifted_by_nothing", lambda: _shifted(0.0)),
        _suspect("doubled_never", lambda: _doubled_if_positive, _negative, _negative, _negative),
        _suspect("negative_if_typed", lambda: _negative_if_it_has(one_of("dtype", "shape", "ndim"))),
        _suspect("three_by_two", lambda: _viewed_or_flat(*one_of((3, 2), (1, 6), (6, 1)))),
        _suspect("with_a_multiple", lambda: _with_a_multiple(*2 * (_number(),))),
        _suspect("shaped_alike", lambda: _reshaped(*2 * (one_of((3, 2), (1, 6), (1, 2, 3)),))),
        _suspect("named_alike", lambda: _under_keys(*2 * (one_of("scores", "scores logits"),))),
        _suspect("listed_alike", lambda: _arranged(*2 * (one_of("one", "two", "rows", "tensor"),))),
        _suspect("summed_alike", lambda: _summed(*2 * (one_of(0, 1),))),
    ),
    given=lambda model: (model.function, [batch.clone() for batch in model.batches]),
)
