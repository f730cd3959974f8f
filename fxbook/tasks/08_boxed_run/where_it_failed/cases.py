"""Models, and inputs of random sizes on which they raise an error or succeed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import WIDTH, Attention, Weighted, with_inputs, without_gradients


class Typed(nn.Module):
    """A function with keyword arguments gets two values of different dtypes."""

    def forward(self, features: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        hidden = torch.relu(features + bias)
        return torch.mm(input=hidden, mat2=weight).sum()


def stacked(parts: list[Tensor]) -> Tensor:
    return torch.cat(parts, dim=0)


@fx.wrap
def joined(parts: list[Tensor]) -> Tensor:
    """Runs a graph of its own, so that the message of an error names two nodes: the first is not in the model."""
    return fx.Interpreter(fx.symbolic_trace(stacked)).run(parts)


class Joined(nn.Module):
    """A function gets a list of two values, whose shapes may not match."""

    def forward(self, features: Tensor, more: Tensor) -> Tensor:
        opened = torch.sigmoid(more)
        doubled = features * 2.0
        return joined([doubled, opened]).sum()


class Indexed(nn.Module):
    """A layer in a submodule gets a number that is too large: an IndexError. Nothing uses the layer's result.

    Another layer in the submodule, and a weight, are used before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.ModuleDict({"positive": nn.Softplus(), "table": nn.Embedding(4, 2)})

    def forward(self, features: Tensor) -> Tensor:
        shifted = self.words["positive"](features) + self.words["table"].weight.square().sum()
        numbers = shifted.ceil().mul(9.0).long()
        self.words["table"](numbers)
        return features.sum()


class Squared(nn.Module):
    """A product of a value with itself, which fails for some shapes of the value."""

    def forward(self, features: Tensor) -> Tensor:
        hidden = torch.relu(features)
        return torch.matmul(hidden, hidden).sum()


class RefusedError(Exception):
    """An error whose class is derived from ``Exception`` alone."""


@fx.wrap
def refused(*values: Tensor, **named: Tensor) -> Tensor:
    """A user-defined function that always raises an error without a message."""
    raise RefusedError


class Refusing(nn.Module):
    """A function with positional and keyword arguments gets two values of one shape and one without dimensions."""

    def forward(self, features: Tensor, limit: Tensor) -> Tensor:
        hidden = torch.relu(features)
        return refused(hidden, features.amin(), limit=limit).sum()


def with_sizes(*shapes: str) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Like :func:`with_inputs`, with random sizes: each letter is a different size, and ``w`` is the model's width."""

    def given(model: nn.Module) -> tuple[Any, ...]:
        letters = sorted(set("".join(shapes)) - {"w"})
        numbers = (torch.randperm(WIDTH - 2)[: len(letters)] + 2).tolist()
        sizes = dict(zip(letters, numbers, strict=True)) | {"w": WIDTH}
        return with_inputs(*(tuple(sizes[letter] for letter in shape) for shape in shapes))(model)

    return given


def with_a_double(*shapes: str) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Like :func:`with_sizes`, but the second input is float64."""

    def given(model: nn.Module) -> tuple[Any, ...]:
        traced, tensors = with_sizes(*shapes)(model)
        tensors[1] = tensors[1].double()
        return traced, tensors

    return given


USAGE = Usage(
    "compute",
    cases=(
        Case("the attention, a wrong shape", Attention, tuple, given=with_sizes("aw", "bw", "cw")),
        Case("the attention, no mistake", Attention, tuple, given=with_sizes("aw", "bw", "bw")),
        Case("a wrong dtype", Typed, tuple, unseen=True, given=with_a_double("ab", "bc", "b")),
        Case("a wrong shape in a list", Joined, tuple, unseen=True, given=with_sizes("ab", "cd")),
        Case("a number that is not in the table", Indexed, tuple, unseen=True, given=with_sizes("ab")),
        Case("the attention, a wrong width", Attention, tuple, unseen=True, given=with_sizes("aw", "bc", "bw")),
        Case(
            "the attention, a wrong width at the layer",
            Attention,
            tuple,
            unseen=True,
            given=with_sizes("aw", "bw", "bc"),
        ),
        Case("a weight of another width", Weighted, tuple, unseen=True, given=with_sizes("ab", "b")),
        Case("a value used twice", Squared, tuple, unseen=True, given=with_sizes("ab")),
        Case("an error of a user-defined class", Refusing, tuple, unseen=True, given=with_sizes("abc", "abc")),
        Case("two shapes in a list, no mistake", Joined, tuple, unseen=True, given=with_sizes("ab", "cb")),
    ),
    call=without_gradients,
)
