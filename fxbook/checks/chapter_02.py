"""What the exercises of chapter 02 ask: a node at the right place, with the right readers, in any model."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.overrides import TorchFunctionMode

from fxbook.checks.exercise import Case, Exercise
from fxbook.checks.families import CONV2D, GELU, LINEAR, RELU, TANH, family
from fxbook.checks.models_02 import (
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
    WithOwnLayer,
)
from fxbook.checks.predicates import (
    calls,
    calls_after,
    edited,
    input_unchanged,
    lints,
    look,
    new_object,
    no_dead_nodes,
    recompiled,
    same_result,
    same_result_or,
    shares_weights,
)
from fxbook.checks.view import CaseView, Violation

CLAMP = family("clamp", "clip", modules=(nn.Hardtanh, nn.ReLU6))
ROUND = family("round")
_FAMILY = {nn.Linear: LINEAR, nn.Conv2d: CONV2D, torch.relu: RELU, torch.tanh: TANH, nn.functional.gelu: GELU}


# ---- what is asked, in eager terms -----------------------------------------------------------------------------------


def with_chain(model: nn.Module, x: Tensor) -> Any:
    """The model with its chain applied to what its anchor gives."""
    assert isinstance(model, Anchored)

    def change(value: Tensor) -> Tensor:
        return functools.reduce(lambda result, function: function(result), model.chain, value)

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


# ---- properties ------------------------------------------------------------------------------------------------------


def output_last(case: CaseView) -> Violation | None:
    """No node stands behind ``output``, where it would never run."""
    output = next((node for node in case.nodes if node.op == "output"), None)
    if output is None:
        return Violation("The graph has no `output` node.")
    behind = next((node for node in case.nodes if node.index > output.index), None)
    if behind is None:
        return None
    message = f"Node `{behind.name}` stands behind `output`: it never runs."
    return Violation(message, behind.index, "02_insertion_points#the-default-place-is-behind-output")


def only_moved(case: CaseView) -> Violation | None:
    """The nodes are those that were given, with the calls they had."""
    made = next((node for node, origin in zip(case.nodes, case.origins, strict=True) if origin is None), None)
    if made:
        return Violation(f"Node `{made.name}` is new: the nodes that are there were to be moved.", made.index)
    missing = next((node for node in case.before if node.index not in case.origins), None)
    if missing:
        return Violation(f"Node `{missing.name}` of the graph that was given is gone.")
    for node, origin in zip(case.nodes, case.origins, strict=True):
        if origin is not None and node.call != case.before.nodes[origin].call:
            return Violation(
                f"Node `{node.name}` has other arguments than before: only its place was to change.", node.index
            )
    return None


def followed_by_activation(case: CaseView) -> Violation | None:
    """Each call of the layer asked for is followed by the activation asked for."""
    assert isinstance(case.model, Layered)
    layer, _, activation = case.model.task
    return calls_after(_FAMILY[activation], _FAMILY[layer])(case)


def scrambled(model: nn.Module) -> tuple[fx.GraphModule]:
    """The traced model, with everything behind its inputs in reverse order, ``output`` first."""
    traced = fx.symbolic_trace(model)
    *_, last_input = traced.graph.find_nodes(op="placeholder")
    for node in list(traced.graph.nodes):
        if node.op != "placeholder":
            last_input.append(node)
    return (traced,)


def rows(count: int = 1, width: int = 4) -> Callable[[], tuple[Tensor, ...]]:
    """``count`` inputs of three rows."""
    return lambda: tuple(torch.randn(3, width) for _ in range(count))


def layered(name: str, build: type[Layered], *shape: int, unseen: bool = False) -> Case:
    return Case(name, build, lambda: (torch.randn(*shape),), unseen=unseen, given=lambda model: (model, *build.task))


EXERCISES = (
    Exercise(
        id="02-clamp-the-output",
        use="edit",
        cases=(
            Case("the block of the chapter", FeedForward, rows()),
            Case("a model that returns its input", Passing, rows(), unseen=True),
        ),
        expected=lambda model, x: torch.clamp(model(x), 0.0, 6.0),
        properties=(
            lints,
            recompiled,
            output_last,
            same_result_or(look("02_insertion_points#a-new-node-needs-a-reader", no_dead_nodes), calls(CLAMP)),
            no_dead_nodes,
            edited,
        ),
    ),
    Exercise(
        id="02-chain-behind-a-node",
        use="edit",
        given=lambda model: (fx.symbolic_trace(model), model.anchor, model.chain),  # type: ignore[union-attr]
        cases=(
            Case("`up` of the block", FeedForward, rows()),
            Case("a value read in lists, by name and twice", Joined, rows(), unseen=True),
            Case("an input", Passing, rows(), unseen=True),
        ),
        expected=with_chain,
        properties=(
            look("02_insertion_points#two-nodes-one-anchor", lints),
            recompiled,
            output_last,
            same_result_or(look("02_insertion_points#a-new-node-needs-a-reader", no_dead_nodes)),
            no_dead_nodes,
            edited,
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
        properties=(lints, recompiled, output_last, same_result, no_dead_nodes, edited),
    ),
    Exercise(
        id="02-put-in-order",
        use="edit",
        given=scrambled,
        cases=(
            Case("the block of the chapter", FeedForward, rows()),
            Case("attention, with three inputs", Attention, rows(3), unseen=True),
            Case("a value read in lists, by name and twice", Joined, rows(), unseen=True),
        ),
        properties=(lints, output_last, only_moved, recompiled, same_result),
    ),
    Exercise(
        id="02-round-every-function",
        use="edit",
        cases=(
            Case("the block of the chapter", FeedForward, rows()),
            Case("functions in a row, one of them `torch.round`", Rounding, rows(), unseen=True),
        ),
        expected=lambda model, x: model.rounded(x),
        properties=(lints, recompiled, output_last, same_result_or(calls(ROUND)), no_dead_nodes, edited),
    ),
    Exercise(
        id="02-activation-after-linear",
        use="pass",
        cases=(
            layered("nested modules", Stack, 3, 1, 6),
            layered("the functional form", Functional, 3, 6),
            layered("a layer called twice, and one with its weight", Tied, 3, 6, unseen=True),
            layered("a subclass of the layer", WithOwnLayer, 3, 6, unseen=True),
            layered("convolutions", Convolutional, 2, 1, 5, 5, unseen=True),
        ),
        expected=activated,
        properties=(
            lints,
            recompiled,
            output_last,
            same_result_or(followed_by_activation),
            no_dead_nodes,
            input_unchanged,
            new_object,
            shares_weights,
        ),
    ),
)
