"""Models whose ``forward`` is decorated, with random names for the input and the result."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of


def as_in_a_library(forward: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that hides the signature from ``symbolic_trace``."""

    @functools.wraps(forward)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return forward(*args, **kwargs)

    return inner


def in_double(forward: Callable[..., dict[str, Tensor]]) -> Callable[..., dict[str, Tensor]]:
    """A decorator that also changes the result: each entry becomes float64."""

    @functools.wraps(forward)
    def inner(*args: Any, **kwargs: Any) -> dict[str, Tensor]:
        return {name: entry.double() for name, entry in forward(*args, **kwargs).items()}

    return inner


class Scoring(nn.Module):
    """Takes one input by name and returns a dict; the names of the input and of the result are arguments."""

    def __init__(self, takes: str, returns: str, training: bool = False) -> None:
        super().__init__()
        self.takes, self.returns = takes, returns
        self.body, self.head = nn.Linear(4, 6), nn.Linear(6, 3)
        self.train(training)

    @as_in_a_library
    def forward(self, *, offset: float = 0.0, **inputs: Tensor) -> dict[str, Any]:
        hidden = self.body(inputs[self.takes]).relu() + offset
        return {"hidden": hidden, self.returns: self.head(hidden), "cache": [hidden, hidden]}


class Gated(Scoring):
    """Two of its modules, one of them nested, are in eval mode while it is in train mode; its decorator casts."""

    def __init__(self, takes: str, returns: str) -> None:
        super().__init__(takes, returns, training=True)
        self.gate = nn.Sequential(nn.Linear(6, 6))
        self.body.eval()
        self.gate[0].eval()

    @in_double
    def forward(self, *, offset: float = 1.0, **inputs: Tensor) -> dict[str, Any]:
        hidden = self.body(inputs[self.takes])
        return {self.returns: hidden * self.gate(hidden).sigmoid() * offset}


def input_name() -> str:
    return one_of("rows", "pixels", "ids", "features")


def result_name() -> str:
    return one_of("scores", "logits", "answer")


def signed(model: nn.Module) -> tuple[Any, ...]:
    """Pass the model, and the names of its input and its result."""
    return model, model.takes, model.returns


def traced_and_run(answer: Any, model: nn.Module, takes: str, returns: str) -> dict[str, Any]:
    """Facts about the module that the answer returns: its trace, its result on a fixed batch, its weights and modes."""
    module = answer(model, takes, returns)
    if not isinstance(module, nn.Module):
        return {"kind": type(module).__name__}
    try:
        traced = fx.symbolic_trace(module)
    except Exception as error:
        return {"raised": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
    inputs = [node.target for node in traced.graph.find_nodes(op="placeholder")]
    result = traced.forward(batch()) if len(inputs) == 1 else None
    weights = {id(weight) for weight in module.parameters()}
    return {
        "inputs": inputs,
        "result": result,
        "differentiable": isinstance(result, Tensor) and result.requires_grad,
        "weights": sum(id(weight) in weights for weight in model.parameters()),
        "training": module.training,
        "inside": [part.training for part in model.modules()],
    }


def batch() -> Tensor:
    return torch.linspace(-1.0, 2.0, 12).reshape(3, 4)


USAGE = Usage(
    "compute",
    cases=(
        Case("a model that scores rows", lambda: Scoring(input_name(), result_name()), tuple),
        Case("a model in train mode", lambda: Scoring(input_name(), result_name(), training=True), tuple),
        Case("a model with modules in eval mode", lambda: Gated(input_name(), result_name()), tuple, unseen=True),
    ),
    given=signed,
    call=traced_and_run,
)
