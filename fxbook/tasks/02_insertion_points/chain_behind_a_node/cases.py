"""Models in which a chain must run after one node, which other nodes use in every way."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.zoo import last_users_first

from ..cases import FeedForward, Joined, Passing, rows


class Pair(nn.Module):
    """``scores`` is called twice. The first call is between two nodes whose names begin with its name, and is used by
    keyword and by ``square``. A value is changed in place by a call whose result no node uses.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scores = nn.Linear(4, 4)
        self.scores_of_the_gate = nn.Linear(4, 4)
        self.scores_of_the_end = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        gate, scores = self.scores_of_the_gate(x), self.scores(x)
        gated = torch.mul(input=gate, other=scores)
        gated.sub_(1.0)
        return self.scores_of_the_end(self.scores(gated) - torch.square(scores))


def changed(kind: Callable[[], Any], anchor: str, *chain: Callable[[Tensor], Tensor]) -> Callable[[], nn.Module]:
    """Returns a function that makes a model; the model stores the name of a node and the functions to run after it."""

    def build() -> nn.Module:
        model = kind()
        model.anchor, model.chain = anchor, chain
        return model

    return build


def traced_anchor_and_chain(model: Any) -> tuple[Any, ...]:
    """The answer gets the traced model, the name of a node, and the functions to run after it."""
    traced = fx.symbolic_trace(model)
    if isinstance(model, Joined):
        last_users_first(traced.graph)
    return traced, model.anchor, model.chain


_BLOCK = (torch.square, torch.log1p)
# The last does not take its tensor as `input`.
_THREE = (torch.exp, torch.tanh, operator.neg)
# One function twice, and one that tensors do not have as a method.
_TWICE = (torch.square, torch.square, nn.functional.silu)

USAGE = Usage(
    "edit",
    cases=(
        Case("`up` of the block", changed(FeedForward, "up", *_BLOCK), rows()),
        Case("a value used in lists, by name and twice", changed(Joined, "block", *_BLOCK), rows(), unseen=True),
        Case("a function of the block", changed(FeedForward, "relu", *_BLOCK), rows(), unseen=True),
        Case("an input", changed(Passing, "x", *_THREE), rows(), unseen=True),
        Case("a value used by keyword and by the same function", changed(Pair, "scores", *_TWICE), rows(), unseen=True),
        Case("an empty chain", changed(FeedForward, "up"), rows(), unseen=True),
    ),
    given=traced_anchor_and_chain,
)
