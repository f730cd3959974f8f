"""Graphs as a backend gets them, with the tensors of the model among their inputs."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of, seeded
from fxbook.cases.real import Logits, real

from ..cases import WIDTH, FeedForward, capture, pixels, rows


class Twins(nn.Module):
    """Two layers with equal weights, which are two tensors."""

    def __init__(self, is_left_first: bool) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.right.load_state_dict(self.left.state_dict())
        self.is_left_first = is_left_first

    def forward(self, x: Tensor) -> Tensor:
        first, second = (self.left, self.right) if self.is_left_first else (self.right, self.left)
        return second(torch.relu(first(x)))


class Shifts(nn.Module):
    """Buffers that are not in the state dict."""

    def __init__(self) -> None:
        super().__init__()
        for name in ("before", "after"):
            self.register_buffer(name, torch.randn(WIDTH), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.sin(x + self.before) + self.after


class Scaled(nn.Module):
    """A tensor that is neither a parameter nor a buffer; parameters in a list, one of them frozen; an input that is a
    parameter; and a buffer that has another buffer's address, and a name like the name of that buffer's placeholder.
    """

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(WIDTH)) for _ in range(2)])
        self.weights[1].requires_grad_(False)
        self.factor, self.shifts = torch.randn(WIDTH), Shifts()
        self.register_buffer("shifts_buffers_before", self.shifts.before[:1])

    def forward(self, given: Tensor, x: Tensor) -> Tensor:
        shifted = self.weights[1] * self.shifts(x) * self.factor - self.shifts_buffers_before
        return shifted + given * self.weights[0]


class Tied(nn.Module):
    """An embedding whose weight is also the last layer's."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(2 * WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.words(tokens))


Call = Callable[[], tuple[Any, ...]]


@functools.cache
def _record(make: Callable[[], nn.Module], *calls: Call) -> tuple[fx.GraphModule, list[Any], nn.Module]:
    """A model's graph with example inputs, and the model, recorded once from calls on each of these inputs in turn."""
    with seeded(0):
        model = make()
        return *capture(model, *(call() for call in calls)), model


def given_by(*makers: Callable[[], nn.Module], calls: tuple[Call, ...]) -> Callable[[nn.Module], tuple[Any, ...]]:
    """A copy of the record of one of these models, chosen at random; its inputs are the tensors of the copied model."""

    def given(_: nn.Module) -> tuple[Any, ...]:
        return copy.deepcopy(_record(one_of(*makers), *calls))

    return given


def resnet() -> nn.Module:
    return Logits(copy.deepcopy(real("resnet")))


def photo() -> tuple[Tensor]:
    return (pixels(),)


def words() -> tuple[Tensor]:
    return (torch.randint(2 * WIDTH, (3,)),)


def a_parameter_and_rows() -> tuple[Tensor, Tensor]:
    return nn.Parameter(torch.randn(WIDTH)), torch.randn(2, WIDTH)


TWO, THREE = rows(2), rows(3)
TWINS = (functools.partial(Twins, True), functools.partial(Twins, False))
USAGE = Usage(
    "compute",
    cases=(
        Case(
            "the model of the exercises, in train mode", nn.Identity, tuple, given=given_by(FeedForward, calls=(TWO,))
        ),
        Case("two layers with equal weights", nn.Identity, tuple, given=given_by(*TWINS, calls=(TWO,))),
        Case(
            "a size that is an input", nn.Identity, tuple, unseen=True, given=given_by(FeedForward, calls=(TWO, THREE))
        ),
        Case(
            "a parameter as an input, a tensor that is not a buffer",
            nn.Identity,
            tuple,
            unseen=True,
            given=given_by(Scaled, calls=(a_parameter_and_rows,)),
        ),
        Case("tied weights", nn.Identity, tuple, unseen=True, given=given_by(Tied, calls=(words,))),
        Case("ResNet, from transformers", nn.Identity, tuple, unseen=True, given=given_by(resnet, calls=(photo,))),
    ),
)
