"""What the exercises of chapter 02 ask: a node at the right place, with the right readers, in any model."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.overrides import TorchFunctionMode

from fxbook.asking.exercise import Case
from fxbook.asking.explained import args_are_tuples, given_edited
from fxbook.asking.predicates import calls, edited, input_unchanged, lints, no_dead_nodes, same_result, shares_weights
from fxbook.checks.legacy import Exercise, compiled, has_reader, same_result_or, well_formed
from fxbook.checks.models_02 import (
    Activated,
    Anchored,
    Attention,
    Convolutional,
    FeedForward,
    Functional,
    Joined,
    Layered,
    Passing,
    Rounding,
    Stack,
    Tied,
    TwoSkips,
    Unread,
    WithLeafSubclass,
    WithOwnLayer,
)
from fxbook.checks.properties_02 import (
    CLAMP,
    ROUND,
    callers_input_stays,
    chain_in_order,
    chain_read_by_all,
    followed_by_activation,
    functions_rounded,
    inputs_keep_order,
    only_additions_read_half,
    only_moved,
    output_last,
    result_clamped,
)

# ---- what is asked, in eager terms -----------------------------------------------------------------------------------


def with_chain(model: nn.Module, x: Tensor) -> Any:
    """The model with its chain applied to what its anchor gives."""
    assert isinstance(model, Anchored)

    def change(value: Tensor) -> Tensor:
        return functools.reduce(lambda result, function: function(result), model.chain, value)

    if isinstance(model, Activated):
        return model.with_activation(change, x)
    if model.anchor == "x":
        return model(change(x))
    hook = model.get_submodule(model.anchor).register_forward_hook(lambda _module, _inputs, value: change(value))
    try:
        return model(x)
    finally:
        hook.remove()


class _Activated(TorchFunctionMode):
    """Passes the result of every call of ``function`` through ``activation``; a layer calls its functional form."""

    def __init__(self, function: Callable[..., Any], activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function, self.activation = function, activation

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        return self.activation(result) if function is self.function else result


def activated(model: nn.Module, x: Tensor) -> Any:
    assert isinstance(model, Layered)
    _, function, activation = model.task
    with _Activated(function, activation):
        return model(x)


# ---- the orders that are handed over ---------------------------------------------------------------------------------


def in_list_order(choose: Callable[[list[fx.Node]], list[fx.Node]]) -> Callable[[nn.Module], tuple[fx.GraphModule]]:
    """The traced model, its nodes moved into the order that ``choose`` makes of them, and recompiled in it."""

    def given(model: nn.Module) -> tuple[fx.GraphModule]:
        traced = fx.symbolic_trace(model)
        first, *rest = choose(list(traced.graph.nodes))
        for node in rest:
            first.append(node)
            first = node
        # So that an answer that forgets to recompile is told so, also where it restores the order that was traced.
        traced.recompile()
        return (traced,)

    return given


def _reversed_behind_inputs(nodes: list[fx.Node]) -> list[fx.Node]:
    """The order of the exercise's ``scrambled``."""
    inputs = [node for node in nodes if node.op == "placeholder"]
    return [*inputs, *(node for node in reversed(nodes) if node.op != "placeholder")]


def _every_third(nodes: list[fx.Node]) -> list[fx.Node]:
    """Every third node, from the second, the third and the first on: neither the right order nor its reverse."""
    inputs = [node for node in nodes if node.op == "placeholder"]
    rest = nodes[len(inputs) :]
    return [*inputs, *rest[1::3], *rest[2::3], *rest[::3]]


def _one_too_early(nodes: list[fx.Node]) -> list[fx.Node]:
    """The right order, but for one node that stands directly behind the first input."""
    first, *rest, misplaced, reader, output = nodes
    return [first, misplaced, *rest, reader, output]


def _last_input_late(nodes: list[fx.Node]) -> list[fx.Node]:
    """The right order, but for the last input, which stands behind everything but ``output``."""
    late = [node for node in nodes if node.op == "placeholder"][-1]
    *others, output = (node for node in nodes if node is not late)
    return [*others, late, output]


def without_copies(answer: Any, traced: fx.GraphModule) -> Any:
    """Use the answer; a node that is a copy of one that was given no longer says so, and counts as new."""
    given = set(traced.graph.nodes)
    result = (answer() if inspect.isclass(answer) else answer)(traced)
    for node in (result if isinstance(result, fx.GraphModule) else traced).graph.nodes:
        if node not in given:
            node.meta.clear()
    return result


def rows(count: int = 1, width: int = 4) -> Callable[[], tuple[Tensor, ...]]:
    """``count`` inputs of three rows."""
    return lambda: tuple(torch.randn(3, width) for _ in range(count))


def far_rows() -> tuple[Tensor, ...]:
    """One input of three rows, from far below zero to far above ten."""
    return (torch.linspace(-30, 30, 12).reshape(3, 4) + torch.randn(3, 4),)


def layered(name: str, build: type[Layered], *shape: int, unseen: bool = False) -> Case:
    return Case(name, build, lambda: (torch.randn(*shape),), unseen=unseen, given=lambda model: (model, *build.task))


EXERCISES = (
    Exercise(
        id="02-clamp-the-output",
        use="edit",
        cases=(
            Case("the block of the chapter", FeedForward, far_rows),
            Case("a model that returns its input", Passing, far_rows, unseen=True),
        ),
        expected=lambda model, x: torch.clamp(model(x), 0.0, 6.0),
        properties=(
            well_formed,
            compiled,
            args_are_tuples,
            output_last,
            same_result_or(has_reader, calls(CLAMP), result_clamped),
            callers_input_stays,
            no_dead_nodes,
            edited,
            given_edited,
        ),
    ),
    Exercise(
        id="02-chain-behind-a-node",
        use="edit",
        given=lambda model: (fx.symbolic_trace(model), model.anchor, model.chain),  # type: ignore[union-attr]
        cases=(
            Case("`up` of the block", FeedForward, rows()),
            Case("a value read in lists, by name and twice", Joined, rows(), unseen=True),
            Case("a function of the block", Activated, rows(), unseen=True),
            Case("an input", Passing, rows(), unseen=True),
        ),
        expected=with_chain,
        properties=(
            well_formed,
            compiled,
            output_last,
            same_result_or(has_reader, chain_read_by_all, chain_in_order),
            no_dead_nodes,
            edited,
            given_edited,
        ),
    ),
    Exercise(
        id="02-halve-the-skip",
        use="edit",
        cases=(
            Case("the block of the chapter", FeedForward, rows()),
            Case("a model with two inputs", TwoSkips, rows(2), unseen=True),
        ),
        expected=lambda model, *inputs: model.halved(*inputs),
        properties=(
            well_formed,
            compiled,
            output_last,
            same_result_or(has_reader, only_additions_read_half, callers_input_stays),
            callers_input_stays,
            no_dead_nodes,
            edited,
            given_edited,
        ),
    ),
    Exercise(
        id="02-put-in-order",
        use="edit",
        given=in_list_order(_reversed_behind_inputs),
        call=without_copies,
        cases=(
            Case("the block of the chapter, reversed", FeedForward, rows()),
            Case("the block with one node misplaced", FeedForward, rows(), given=in_list_order(_one_too_early)),
            Case("attention, with three inputs", Attention, rows(3), unseen=True),
            Case("attention in no order at all", Attention, rows(3), unseen=True, given=in_list_order(_every_third)),
            Case("attention, one input late", Attention, rows(3), unseen=True, given=in_list_order(_last_input_late)),
            Case("a value read in lists, by name and twice", Joined, rows(), True, in_list_order(_every_third)),
            Case("a chain that nothing reads", Unread, rows(), True, in_list_order(_every_third)),
        ),
        properties=(
            lints,
            output_last,
            only_moved,
            inputs_keep_order,
            compiled,
            same_result,
            given_edited,
        ),
    ),
    Exercise(
        id="02-round-every-function",
        use="edit",
        cases=(
            Case("the block of the chapter", FeedForward, rows()),
            Case("functions in a row, one of them `torch.round`", Rounding, rows(), unseen=True),
        ),
        expected=lambda model, x: model.rounded(x),
        properties=(
            well_formed,
            compiled,
            output_last,
            same_result_or(has_reader, calls(ROUND), functions_rounded),
            no_dead_nodes,
            edited,
            given_edited,
        ),
    ),
    Exercise(
        id="02-activation-after-linear",
        use="pass",
        cases=(
            layered("nested modules", Stack, 3, 1, 6),
            layered("the functional form", Functional, 3, 6),
            layered("a layer called twice, and one with its weight", Tied, 3, 6, unseen=True),
            layered("a subclass of your own, which is traced into", WithOwnLayer, 3, 6, unseen=True),
            layered("a subclass in `torch.nn`, which is not", WithLeafSubclass, 3, 6, unseen=True),
            layered("convolutions", Convolutional, 2, 1, 5, 5, unseen=True),
        ),
        expected=activated,
        properties=(
            well_formed,
            compiled,
            output_last,
            same_result_or(has_reader, followed_by_activation),
            no_dead_nodes,
            input_unchanged,
            shares_weights,
        ),
    ),
)
