"""Modules that were edited or not, and compiled or not."""

from __future__ import annotations

from collections.abc import Callable

import torch

# This loads what print_readable needs, which takes longer than an answer may.
import torch._dynamo
from torch import Tensor, fx, nn
from torch.fx.graph import _PyTreeCodeGen, _PyTreeInfo
from torch.utils._pytree import tree_structure

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of

from ..cases import FeedForward, Gated, edited, in_a_row, insert_neg, relus, rows, said_of, tanh_for_relu


def either() -> nn.Module:
    """One of two models."""
    return one_of(FeedForward, Gated)()


def another_activation(graph: fx.Graph) -> None:
    """One of several valid edits."""
    # Their names are as long as that of relu, so that the text keeps its length.
    target = one_of(torch.tanh, torch.sinh, torch.ceil, torch.erfc)
    for node in relus(graph):
        node.target = target


def there_and_back(graph: fx.Graph) -> None:
    """Two edits that leave the graph as it was."""
    tanh_for_relu(graph)
    for node in graph.find_nodes(op="call_function", target=torch.tanh):
        node.target = torch.relu


def add_dead_node(graph: fx.Graph) -> None:
    """An edit that changes the code but no result."""
    last = graph.output_node().prev
    with graph.inserting_after(last):
        graph.call_function(one_of(torch.neg, torch.abs, torch.exp), (last.prev,))


def scale_first(graph: fx.Graph) -> None:
    """An edit after which the code has the same lines in a different order."""
    [scale] = graph.find_nodes(op="get_attr")
    relus(graph)[0].prepend(scale)


def scale_first_from_a_list(graph: fx.Graph) -> None:
    """Like :func:`scale_first`, but the graph's codegen also takes the input from a list, as with torch.export."""
    scale_first(graph)
    graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(["self", "values"], tree_structure(([0],)), None)))


def other_signature(graph: fx.Graph) -> None:
    """An edit after which only the signature has changed, by an annotation."""
    graph.find_nodes(op="placeholder")[0].type = one_of(None, object)


def other_annotation(graph: fx.Graph) -> None:
    """An edit after which only the annotation of a step has changed."""
    relus(graph)[0].type = torch.Tensor


def other_default(graph: fx.Graph) -> None:
    """An edit after which only the default of the input has changed."""
    graph.find_nodes(op="placeholder")[0].args = (None,)


def other_number(graph: fx.Graph) -> None:
    """An edit after which only a number among the arguments has changed."""
    graph.find_nodes(op="call_method", target="sum")[0].kwargs = {"dim": 0}


def other_name(graph: fx.Graph) -> None:
    """An edit after which only the name of a value has changed."""
    relus(graph)[-1]._rename("relu_9")


def other_result(graph: fx.Graph) -> None:
    """An edit after which only the result's line has changed."""
    output = graph.output_node()
    output.args = (output.args[0][::-1],)


def with_another_function(model: nn.Module) -> tuple[fx.GraphModule]:
    """A compiled module with a dead node, which now calls another function of the same name: the text is the same."""

    def scaled(factor: float) -> Callable[[Tensor], Tensor]:
        def dead(x: Tensor) -> Tensor:
            return x * factor

        return dead

    traced = fx.symbolic_trace(model)
    last = traced.graph.output_node().prev
    with traced.graph.inserting_after(last):
        node = traced.graph.call_function(scaled(2.0), (last.prev,))
    traced.recompile()
    node.target = scaled(3.0)
    return (traced,)


def edited_inside(model: nn.Module) -> tuple[fx.GraphModule]:
    """A module that calls the traced model, which is edited."""
    whole = in_a_row(near=fx.symbolic_trace(model))
    insert_neg(whole.near.graph)
    return (whole,)


def edited_around(model: nn.Module) -> tuple[fx.GraphModule]:
    """A module that calls the traced model; the call now has a different argument."""
    whole = in_a_row(near=fx.symbolic_trace(model))
    whole.graph.output_node().prev.kwargs = {"x": None}
    return (whole,)


USAGE = Usage(
    "compute",
    cases=(
        Case("a module fresh from tracing", either, rows, given=edited(lambda graph: None)),
        Case("an edit", either, rows, given=edited(another_activation)),
        Case("an edit, compiled", either, rows, given=edited(another_activation, compiled=True)),
        Case("an edit that was undone", Gated, rows, True, edited(there_and_back)),
        Case("an edit that changes no result", either, rows, True, edited(add_dead_node)),
        Case("an edit that changes only the order", Gated, rows, True, edited(scale_first)),
        Case("an edit that changes only the result", Gated, rows, True, edited(other_result)),
        Case("an edit that changes only the signature", either, rows, True, edited(other_signature)),
        Case("an edit that changes only an annotation", either, rows, True, edited(other_annotation)),
        Case("an edit that changes only a default", either, rows, True, edited(other_default)),
        Case("an edit that changes only a number", Gated, rows, True, edited(other_number)),
        Case("an edit that changes only a name", Gated, rows, True, edited(other_name)),
        Case("an edit in a traced submodule", FeedForward, rows, True, edited_inside),
        Case("another function of the same name", either, rows, True, with_another_function),
        Case("another order and codegen, compiled", Gated, rows, True, edited(scale_first_from_a_list, True)),
        Case("an edit around a traced submodule", FeedForward, rows, True, edited_around),
    ),
    call=said_of,
)
