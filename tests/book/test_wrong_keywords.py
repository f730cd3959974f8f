"""Every row is true in the table of chapter 06 that says what finds a wrong keyword."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn

from press import ROOT

SECTION = "## Who finds a wrong keyword"
Model = Callable[..., Any]


@fx.wrap
def scaled(x: Tensor, factor: float = 2.0) -> Tensor:
    return x * factor


@dataclasses.dataclass(frozen=True)
class Call:
    """A model with a call, the same model with a wrong keyword, and the wrong keyword that a pass adds to the node.

    ``wrong`` is ``None`` if Python has no syntax for such a model.
    """

    model: Model
    wrong: Model | None
    added: dict[str, Any]


class Layer(nn.Module):
    """Calls a layer with keywords."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__()
        self.act = nn.ReLU()
        self.keywords = keywords

    def forward(self, x: Tensor) -> Tensor:
        return self.act(x, **self.keywords)


class LayerTwice(Layer):
    def forward(self, x: Tensor) -> Tensor:
        return self.act(x, input=x)


def misspelled(function: Model, *more: Any) -> Call:
    return Call(lambda x: function(x, *more), lambda x: function(x, *more, typo=1), {"typo": 1})


def given_twice(function: Model, name: str, *more: Any) -> Call:
    """Pass the last argument, or the only one, by position and by name."""
    again = more[-1] if more else 1
    return Call(lambda x: function(x, *more), lambda x: function(x, *more, **{name: again}), {name: again})


def einsum(x: Tensor, **keywords: Any) -> Tensor:
    return torch.einsum("i->", x, **keywords)


def total(x: Tensor, *more: Any, **keywords: Any) -> Tensor:
    return x.sum(*more, **keywords)


ATEN_RELU = torch.ops.aten.relu.default
CALLS = {
    "a C function: `torch.sum`, `nn.functional.gelu`": [
        misspelled(torch.sum),
        misspelled(nn.functional.gelu),
        given_twice(torch.sum, "dim", 0),
    ],
    "a Python function: `nn.functional.relu`, `torch.norm`": [
        misspelled(nn.functional.relu),
        misspelled(torch.norm),
        given_twice(nn.functional.relu, "input"),
        given_twice(torch.norm, "input"),
    ],
    "a function that takes `*args`: `torch.einsum`": [misspelled(einsum)],
    # Tracing finds a wrapped function by its name in this module.
    "a wrapped function": [
        Call(lambda x: scaled(x), lambda x: scaled(x, typo=1), {"typo": 1}),
        Call(lambda x: scaled(x, 1), lambda x: scaled(x, 1, factor=1), {"factor": 1}),
    ],
    "a method": [misspelled(total), given_twice(total, "dim", 0)],
    "a layer from `torch.nn`": [
        Call(Layer(), Layer(typo=1), {"typo": 1}),
        Call(Layer(), LayerTwice(), {"input": 1}),
    ],
    "an operator from `torch.ops`": [misspelled(ATEN_RELU), given_twice(ATEN_RELU, "self")],
    "a Python operator: `+`": [
        Call(lambda x: operator.add(x, 1), None, {"typo": 1}),
        Call(lambda x: operator.add(x, 1), None, {"b": 1}),
    ],
}


def rows_of_the_table() -> dict[str, list[str]]:
    """The rows of the table, by their first column."""
    text = (ROOT / "book/chapters/06_kwargs.md").read_text(encoding="utf-8")
    section = text.partition(f"\n{SECTION}\n")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| a")]
    return {first: rest for first, *rest in lines}


ROWS = rows_of_the_table()


def error_of(step: Callable[[], Any], silent: str) -> str:
    """The class of the error that a step raises, or ``silent``."""
    try:
        step()
    except (TypeError, RuntimeError) as error:
        return f"**{type(error).__name__}**"
    return silent


def with_keywords(call: Call) -> tuple[fx.GraphModule, fx.Node]:
    """The traced model, and its call with the added keyword, which lint and recompile accept."""
    traced = fx.symbolic_trace(call.model)
    node = traced.graph.output_node().args[0]
    assert isinstance(node, fx.Node)
    node.kwargs = {**node.kwargs, **call.added}
    traced.graph.lint()
    traced.recompile()
    return traced, node


def test_every_row_is_proven() -> None:
    assert set(ROWS) == set(CALLS)


@pytest.mark.parametrize(("row", "call"), [(row, call) for row, calls in CALLS.items() for call in calls])
def test_finder_of_a_wrong_keyword(row: str, call: Call) -> None:
    while_tracing, normalised, called = ROWS[row]
    if call.wrong is None:
        assert while_tracing == "cannot be written"
    else:
        wrong = call.wrong
        assert error_of(lambda: fx.symbolic_trace(wrong), "passes") == while_tracing
    traced, node = with_keywords(call)
    pairs: list[Any] = []
    found = error_of(lambda: pairs.append(node.normalized_arguments(traced)), "`None`")
    assert found == normalised
    assert pairs in ([], [None])
    # Calling the module itself would also print the line of its code.
    assert error_of(lambda: traced.forward(torch.ones(2)), "**passes**") == called
