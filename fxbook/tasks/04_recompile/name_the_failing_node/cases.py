"""Modules with an input on which a line of their code fails, or none."""

from __future__ import annotations

import operator

import torch

# Loads what the call of a module that fails needs, which takes longer than an answer may.
import torch._dynamo
from torch import Tensor, fx, nn

from fxbook.asking import Case, Usage
from fxbook.asking.exercise import one_of

from ..cases import FeedForward, Gated, Given, alone, calls_one_of, edited, in_a_row, relus, rows


def refuses(value: Tensor) -> Tensor:
    """A function of one's own that raises."""
    raise ValueError(f"refused: {value.dim()} dimensions")


def declines(value: Tensor) -> Tensor:
    """Another one."""
    raise TypeError(f"declined: {value.dtype}")


# ---- edits -----------------------------------------------------------------------------------------------------------


def square_of_up(graph: fx.Graph) -> None:
    relu = relus(graph)[0]
    relu.target, relu.args = torch.matmul, (relu.args[0], relu.args[0])


def typed_square_of_up(graph: fx.Graph) -> None:
    """The same node has a ``type``, which is after its name in the code."""
    relus(graph)[0].type = Tensor
    square_of_up(graph)


def adds_up_in_place(graph: fx.Graph) -> None:
    """``x += up``, whose shapes do not go together."""
    [add] = graph.find_nodes(op="call_function", target=operator.add)
    [up] = graph.find_nodes(op="call_module", target="up")
    add.target, add.args = operator.iadd, (add.args[0], up)


def fetches_nothing(graph: fx.Graph) -> None:
    next(node for node in graph.nodes if node.op == "get_attr").target = "gone"


# ---- modules and inputs ----------------------------------------------------------------------------------------------


def with_rows_of(width: int, build: Given) -> Given:
    """The module that ``build`` gives, and an input of this width."""
    return lambda model: (*build(model), torch.randn(3, width))


def layer_that_fails(model: nn.Module) -> tuple[fx.GraphModule, Tensor]:
    """The traced block and an input on which one of its layers fails."""
    traced = fx.symbolic_trace(model)
    if one_of(True, False):
        return traced, torch.randn(3, 3)
    x, down = traced.graph.find_nodes(op="placeholder")[0], traced.graph.find_nodes(op="call_module", target="down")[0]
    down.args = (x,)
    traced.recompile()
    return traced, torch.randn(3, 4)


def sound_again(model: nn.Module) -> tuple[fx.GraphModule]:
    """A module whose graph was mended, and not its code."""
    [traced] = edited(square_of_up, True)(model)
    relu = next(node for node in traced.graph.nodes if node.name == "relu")
    relu.target, relu.args = torch.tanh, relu.args[:1]
    return (traced,)


def renamed_anew(model: nn.Module) -> fx.GraphModule:
    """The traced model, each call with a name that is another each time."""
    traced = fx.symbolic_trace(model)
    word, first = one_of("step", "line", "part", "call"), int(torch.randint(1, 100, ()))
    for number, node in enumerate(traced.graph.nodes, first):
        if node.op.startswith("call"):
            node._rename(f"{word}_{number}")
    traced.recompile()
    return traced


def calls_it_traced(model: nn.Module) -> fx.GraphModule:
    """A traced module that calls the traced model."""
    return in_a_row(near=fx.symbolic_trace(model))


def block(name: str, given: Given, unseen: bool = True) -> Case:
    return Case(name, FeedForward, rows, unseen, given)


USAGE = Usage(
    "compute",
    cases=(
        block("a line that calls a function", with_rows_of(4, edited(square_of_up, True)), unseen=False),
        block("a line that calls a layer", layer_that_fails, unseen=False),
        block("nothing that fails", with_rows_of(4, edited(lambda graph: None))),
        block("a line that calls a traced module", with_rows_of(3, alone(calls_it_traced))),
        Case("nodes with names of their own", Gated, rows, True, with_rows_of(3, alone(renamed_anew))),
        Case("a line that fetches a weight", Gated, rows, True, with_rows_of(4, edited(fetches_nothing, True))),
        block("a function of your own", with_rows_of(4, alone(calls_one_of(refuses, declines)))),
        block("an operation in place", with_rows_of(4, edited(adds_up_in_place, True))),
        block("a node with a type", with_rows_of(4, edited(typed_square_of_up, True))),
        block("an edit that was not compiled", with_rows_of(4, edited(square_of_up))),
        block("a graph that was mended, not compiled", with_rows_of(4, sound_again)),
    ),
)
