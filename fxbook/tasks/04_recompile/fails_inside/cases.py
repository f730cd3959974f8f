"""Modules that call traced modules, each with inputs on which a node of one of the graphs fails, or none does."""

from __future__ import annotations

import operator
from collections.abc import Callable

import torch

# A failing Interpreter needs this import, which would exceed an answer's time limit.
import torch._dynamo
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of

from ..cases import Edit, Wrapped, block, in_a_row, relus, rows, said_of


class RefusedError(Exception):
    """An error of a user-defined class."""


def refuses(value: Tensor) -> Tensor:
    """A user-defined function that raises."""
    raise RefusedError(f"refused: {value.dim()} dimensions")


def declines(value: Tensor) -> Tensor:
    """Another user-defined function that raises."""
    raise RefusedError(f"declined: {value.dtype}")


# ---- edits -----------------------------------------------------------------------------------------------------------


def multiply_by_itself(graph: fx.Graph) -> None:
    """Replace the relu or the addition with a matrix product of a value and itself, which fails for three rows."""
    node = one_of(relus(graph)[0], graph.find_nodes(op="call_function", target=operator.add)[0])
    node.target, node.args = torch.matmul, (node.args[0], node.args[0])


def call_what_raises(graph: fx.Graph) -> None:
    relus(graph)[0].target = one_of(refuses, declines)


def give_names(graph: fx.Graph) -> None:
    """Give each call a random name with a number."""
    word, first = one_of("step", "line", "part", "call"), int(torch.randint(1, 100, ()))
    for number, node in enumerate(graph.nodes, first):
        if node.op.startswith("call"):
            node._rename(f"{word}_{number}")


def compiled(traced: fx.GraphModule, *edits: Edit) -> fx.GraphModule:
    """The module, edited and compiled."""
    for edit in edits:
        edit(traced.graph)
    traced.recompile()
    return traced


# ---- modules ---------------------------------------------------------------------------------------------------------


def of_its_own() -> nn.Module:
    """A node of the module itself fails."""
    return compiled(block(), multiply_by_itself)


def one_inside() -> nn.Module:
    """A node fails in one of two inner traced modules, whose graphs are otherwise the same."""
    first, second = one_of((1, 0), (0, 1))
    edits = ([], [multiply_by_itself])
    return in_a_row(first=compiled(block(), *edits[first]), second=compiled(block(), *edits[second]))


def beside_a_sequential() -> nn.Module:
    """The module of the chapter: an untraced module calls, twice, the traced module that contains the failing node."""
    far = compiled(block(), multiply_by_itself)
    return in_a_row(near=block(), blocks=nn.Sequential(nn.Tanh(), far, far))


def several_levels() -> nn.Module:
    """Three traced modules, each inside the one before it, with an untraced module between them."""
    inner = Wrapped(compiled(block(), give_names, multiply_by_itself))
    return in_a_row(outer=Wrapped(compiled(in_a_row(inner=inner, last=nn.Tanh()), give_names)))


def without_layers() -> nn.Module:
    """The traced module whose node fails is the last one, and has no layers."""
    graph = fx.Graph()
    graph.output(graph.call_function(torch.relu, (graph.placeholder("x"),)))
    return in_a_row(first=nn.Tanh(), near=compiled(fx.GraphModule({}, graph), call_what_raises))


def edited_deep_inside() -> nn.Module:
    """A traced module three levels deep, whose graph has an edit that is not compiled."""
    inner = block()
    model = in_a_row(near=in_a_row(blocks=nn.Sequential(inner)))
    multiply_by_itself(inner.graph)
    return model


def mended() -> nn.Module:
    """The code fails, but the graph has been mended since."""
    model = in_a_row(near=compiled(block(), multiply_by_itself))
    assert isinstance(model.near, fx.GraphModule)
    for node in model.near.graph.find_nodes(op="call_function", target=torch.matmul):
        node.target, node.args = torch.tanh, node.args[:1]
    return model


def a_batch_norm_twice() -> nn.Module:
    """A batch norm runs on the input, then on a gradient as a single row, which it rejects only in training mode."""
    graph = fx.Graph()
    normed = graph.call_module("norm", (graph.placeholder("x"),))
    slopes = graph.call_function(
        torch.autograd.grad, (graph.call_method("sum", (normed,)), graph.get_attr("norm.bias"))
    )
    row = graph.call_method("unsqueeze", (graph.call_function(operator.getitem, (slopes, 0)), 0))
    graph.output(graph.call_module("norm", (row,)))
    norm = nn.BatchNorm1d(4)
    # Not in the state dict, so that an answer cannot restore it from there.
    norm.register_buffer("running_mean", torch.zeros(4), persistent=False)
    return fx.GraphModule(nn.ModuleDict({"norm": norm}), graph)


def of_two_inputs() -> nn.Module:
    """Adds a second input to what the block computes from the first."""
    graph = fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    graph.output(graph.call_function(torch.add, (graph.call_module("near", (x,)), y)))
    return fx.GraphModule({"near": block()}, graph)


def whole(name: str, build: Callable[[], nn.Module], unseen: bool = True, widths: tuple[int, ...] = (4,)) -> Case:
    """The answer gets the model, and for each width an input of three rows."""

    def given(model: nn.Module) -> tuple[object, ...]:
        return (model, *(torch.randn(3, width) for width in widths))

    return Case(name, build, rows, unseen, given)


USAGE = Usage(
    "compute",
    cases=(
        whole("a node of the module itself", of_its_own, unseen=False),
        whole("a node in a traced submodule", one_inside, unseen=False),
        whole("nothing that fails", lambda: in_a_row(near=block())),
        whole("a traced module inside a Sequential", beside_a_sequential),
        whole("several levels, and renamed nodes", several_levels),
        whole("a layer that fails", lambda: in_a_row(near=in_a_row(blocks=nn.Sequential(block()))), widths=(3,)),
        whole("an error of another class", without_layers),
        whole("a layer after a traced module", lambda: in_a_row(blocks=nn.Sequential(block(), nn.Linear(3, 3)))),
        whole("an edit that was not compiled, three levels deep", edited_deep_inside),
        whole("a graph that was fixed but not compiled", mended),
        whole("a batch norm that updates, then fails in training mode", a_batch_norm_twice),
        whole("two inputs of different widths", of_two_inputs, widths=(4, 5)),
    ),
    call=said_of,
)
