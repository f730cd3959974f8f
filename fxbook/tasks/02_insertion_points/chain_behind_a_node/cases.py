"""Nodes of every kind behind which a chain is to run, with readers that read in every way."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import FeedForward, Joined, Passing, rows

Function = Callable[[Tensor], Tensor]


class Anchored:
    """Knows what is asked of a model: the functions, and the submodule, function or input behind which they go."""

    anchor: str
    chain: tuple[Function, ...] = (torch.square, torch.log1p)


class BehindLayer(FeedForward, Anchored):
    """The block of the chapter, changed behind its first layer."""

    anchor = "up"


class BehindFunction(FeedForward, Anchored):
    """The block of the chapter, changed behind its activation: a function, whose name is not its target."""

    anchor = "relu"


class BehindBlock(Joined, Anchored):
    """A value that is read in lists, by name and twice."""

    anchor = "block"


class BehindInput(Passing, Anchored):
    """Changed behind its input, by another chain."""

    anchor = "x"
    chain = (torch.exp, torch.tanh, torch.neg)


class BehindNoChain(FeedForward, Anchored):
    """The block of the chapter, and no function at all."""

    anchor = "up"
    chain = ()


class BehindPair(nn.Module, Anchored):
    """A value that is read by name, between two whose names begin like its own, and by a function of the chain.

    One function is twice in the chain, and no method is called like the last.
    """

    anchor = "scores"
    chain = (torch.square, torch.square, nn.functional.silu)

    def __init__(self) -> None:
        super().__init__()
        self.scores = nn.Linear(4, 4)
        self.scores_of_the_gate = nn.Linear(4, 4)
        self.scores_of_the_end = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        gate, scores = self.scores_of_the_gate(x), self.scores(x)
        gated = torch.mul(input=gate, other=scores)
        return self.scores_of_the_end(gated - torch.square(scores))


def traced_and_what_is_asked(model: nn.Module) -> tuple[fx.GraphModule, str, tuple[Function, ...]]:
    """The answer is called with the traced model, the name of a node, and the functions that are to run behind it."""
    assert isinstance(model, Anchored)
    traced = fx.symbolic_trace(model)
    [node] = [node for node in traced.graph.nodes if node.name == model.anchor]
    if isinstance(model, BehindBlock):
        # As an edit leaves them: the users are not in the order of the list.
        first = next(iter(node.users))
        node.users[first] = node.users.pop(first)
    return traced, model.anchor, model.chain


USAGE = Usage(
    "edit",
    cases=(
        Case("`up` of the block", BehindLayer, rows()),
        Case("a value read in lists, by name and twice", BehindBlock, rows(), unseen=True),
        Case("a function of the block", BehindFunction, rows(), unseen=True),
        Case("an input", BehindInput, rows(), unseen=True),
        Case("a value read by name, beside another", BehindPair, rows(), unseen=True),
        Case("no function at all", BehindNoChain, rows(), unseen=True),
    ),
    given=traced_and_what_is_asked,
)
