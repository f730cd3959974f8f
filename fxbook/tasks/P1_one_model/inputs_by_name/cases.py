"""Graphs with defaults, with names of built-in functions, and with unused inputs; and dicts of inputs for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of


class Scaled(nn.Module):
    """The inputs of the project."""

    def forward(self, images: Tensor, mean: Tensor, std: Tensor | float = 1.0) -> Tensor:
        return (images - mean) / std


class Taken(nn.Module):
    """Inputs whose nodes have other names; an unused input; defaults that are 0 or ``None``. No name is a word that a
    message may need, such as "input".
    """

    def forward(
        self, filter: Tensor, unread: Tensor, len: Tensor, sum: float = 0.0, scale: float | None = None, size: int = 3
    ) -> Tensor:
        return filter * len + sum + size


class Required(nn.Module):
    """Inputs, none of which has a default."""

    def forward(self, filter: Tensor, len: Tensor, mask: Tensor) -> Tensor:
        return filter * len * mask


class Renamed(nn.Module):
    """Inputs whose names begin or end with the name of another input; one ends in a number, like the name of a node."""

    def forward(self, image: Tensor, image_mean: Tensor, mean: Tensor, image_2: float = 2.0) -> Tensor:
        return image - image_mean * mean / image_2


def request(
    model: nn.Module,
    left_out: int = 0,
    without: tuple[str, ...] = (),
    extra: tuple[str, ...] = (),
    order: Literal["random", "as written", "backwards"] = "random",
    values: Mapping[str, Any] = MappingProxyType({}),
    last_input_late: bool = False,
) -> tuple[fx.GraphModule, dict[str, Any]]:
    """The traced model, and a dict of its inputs.

    The dict does not have the first ``left_out`` inputs with a default or the names in ``without``, and it has the
    unknown names in ``extra``, which come after the others if the order is as written. All inputs are tensors, except
    for those in ``values``. If ``last_input_late``, the last input is directly before its first user.
    """
    traced = fx.symbolic_trace(model)
    inputs = traced.graph.find_nodes(op="placeholder")
    if last_input_late:
        min(inputs[-1].users).prepend(inputs[-1])
        traced.recompile()
    optional = [str(node.target) for node in inputs if node.args]
    kept = len(optional) - min(left_out, len(optional))
    names = [str(node.target) for node in inputs if not node.args] + optional[len(optional) - kept :]
    names = [*(name for name in names if name not in without), *extra]
    places = torch.randperm(len(names)).tolist() if order == "random" else range(len(names))
    places = places[::-1] if order == "backwards" else places
    return traced, {names[place]: values.get(names[place], torch.randn(one_of(2, 3))) for place in places}


def given(**faults: Any) -> Callable[[nn.Module], tuple[Any, ...]]:
    return lambda model: request(model, **faults)


def called(answer: Callable[..., Any], traced: fx.GraphModule, values: dict[str, Any]) -> dict[str, Any]:
    """What the answer returns (with each given value replaced by its name) or raises, and what is left in the dict."""
    names = {id(value): name for name, value in values.items()}
    before = list(values)
    try:
        returned = answer(traced, values)
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return {"raised": kinds, "message": str(error), "left": list(values) == before}
    items = list(returned) if isinstance(returned, list | tuple) else None
    items = None if items is None else [names.get(id(item), item) for item in items]
    return {"kind": type(returned).__name__, "items": items, "left": list(values)}


USAGE = Usage(
    "compute",
    cases=(
        Case("all inputs, in any order", Scaled, tuple, given=given(order="backwards")),
        Case("without `std`", Scaled, tuple, given=given(left_out=1)),
        Case("no `mean`", Scaled, tuple, given=given(without=("mean",))),
        Case("`sdt` in place of `std`", Scaled, tuple, given=given(left_out=1, extra=("sdt",))),
        Case("names of built-in functions", Taken, tuple, unseen=True, given=given(left_out=2)),
        Case("an unused input, an input after a call", Taken, tuple, unseen=True, given=given(last_input_late=True)),
        Case(
            "two missing, two unknown",
            Taken,
            tuple,
            unseen=True,
            given=given(without=("unread", "len"), extra=("filter_1", "weights")),
        ),
        Case(
            "an unknown name at the end", Scaled, tuple, unseen=True, given=given(extra=("image",), order="as written")
        ),
        Case("the last two inputs missing", Required, tuple, unseen=True, given=given(without=("len", "mask"))),
        Case("names that begin alike", Renamed, tuple, unseen=True, given=given(without=("mean",))),
        Case("names that begin alike, all present", Renamed, tuple, unseen=True, given=given(left_out=1)),
        Case("values that are `None` or 0", Taken, tuple, unseen=True, given=given(values={"sum": None, "size": 0})),
    ),
    call=called,
)
