"""Graphs in which several nodes, one node or an input is in the wrong place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import FeedForward, Joined, rows

Order = Callable[[list[fx.Node]], list[fx.Node]]


class Attention(nn.Module):
    """Three inputs whose order a sort must keep, although they are first used in a different order."""

    def __init__(self) -> None:
        super().__init__()
        self.key = nn.Linear(4, 4)
        self.bias = nn.Parameter(torch.randn(3))

    def forward(self, query: Tensor, value: Tensor, keys: Tensor) -> Tensor:
        scores = torch.softmax(query @ self.key(keys).transpose(0, 1) + self.bias, dim=-1)
        return scores @ value


class Unused(nn.Module):
    """Computes a chain that has no users and is longer than the path to the output."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.mix(x)
        hidden.tanh().exp().sum(0)
        return hidden + x


class Projected(nn.Module):
    """Nodes inside slices and a list; a layer named ``output``; an unused input."""

    def __init__(self) -> None:
        super().__init__()
        self.output = nn.Linear(4, 4)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        half = x.size(0) // 2
        return self.output(torch.cat([x[half:], x[:half]]))


def in_list_order(choose: Order) -> Callable[[nn.Module], tuple[fx.GraphModule]]:
    """The answer gets the traced model, recompiled with its nodes in the order that ``choose`` returns."""

    def given(model: nn.Module) -> tuple[fx.GraphModule]:
        traced = fx.symbolic_trace(model)
        last, *rest = choose(list(traced.graph.nodes))
        for node in rest:
            last.append(node)
            last = node
        # So that an answer that forgets to recompile leaves stale code, even if it restores the traced order.
        traced.recompile()
        return (traced,)

    return given


def _reversed_after_inputs(nodes: list[fx.Node]) -> list[fx.Node]:
    """The order of the exercise's ``scrambled``."""
    inputs = [node for node in nodes if node.op == "placeholder"]
    return [*inputs, *(node for node in reversed(nodes) if node.op != "placeholder")]


def _every_third(nodes: list[fx.Node]) -> list[fx.Node]:
    """Every third node from the second, then from the third, then from the first: neither sorted nor reversed."""
    inputs = [node for node in nodes if node.op == "placeholder"]
    rest = nodes[len(inputs) :]
    return [*inputs, *rest[1::3], *rest[2::3], *rest[::3]]


def _one_too_early(nodes: list[fx.Node]) -> list[fx.Node]:
    """The right order, except that one node comes directly after the first input."""
    first, *rest, misplaced, user, output = nodes
    return [first, misplaced, *rest, user, output]


def _last_input_late(nodes: list[fx.Node]) -> list[fx.Node]:
    """The right order, except that the last input comes after everything but ``output``."""
    late = [node for node in nodes if node.op == "placeholder"][-1]
    *others, output = (node for node in nodes if node is not late)
    return [*others, late, output]


def _two_inputs_late(nodes: list[fx.Node]) -> list[fx.Node]:
    """The right order, except that the last two inputs come directly before and directly after ``output``."""
    late = [node for node in nodes if node.op == "placeholder"][-2:]
    *others, output = (node for node in nodes if node not in late)
    return [*others, late[0], output, late[1]]


def without_copies(answer: Any, traced: fx.GraphModule) -> Any:
    """Call the answer, and clear ``meta`` on each copy of a given node, so that the copy counts as new."""
    given = set(traced.graph.nodes)
    result = answer(traced)
    for node in (result if isinstance(result, fx.GraphModule) else traced).graph.nodes:
        if node not in given:
            node.meta.clear()
    return result


def mixed(name: str, build: type[nn.Module], inputs: Callable[[], tuple[Tensor, ...]], order: Order) -> Case:
    """A case that is new to the learner: a model with its nodes in this order."""
    return Case(name, build, inputs, unseen=True, given=in_list_order(order))


USAGE = Usage(
    "edit",
    cases=(
        Case("the block of the chapter, reversed", FeedForward, rows()),
        Case("the block with one node misplaced", FeedForward, rows(), given=in_list_order(_one_too_early)),
        Case("attention, with three inputs", Attention, rows(3), unseen=True),
        mixed("attention, shuffled", Attention, rows(3), _every_third),
        mixed("attention, one input late", Attention, rows(3), _last_input_late),
        mixed("attention, two inputs late", Attention, rows(3), _two_inputs_late),
        mixed("a value used in lists, by name and twice", Joined, rows(), _every_third),
        mixed("a value used in lists, by name and twice, reversed", Joined, rows(), _reversed_after_inputs),
        mixed("the block, its input late", FeedForward, rows(), _last_input_late),
        mixed("a layer named `output`, and an unused input", Projected, rows(2), _reversed_after_inputs),
        mixed("a chain that has no users", Unused, rows(), _every_third),
    ),
    given=in_list_order(_reversed_after_inputs),
    call=without_copies,
)
