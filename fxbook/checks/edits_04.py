"""What the exercises of chapter 04 are given: edits of the graphs of its models, compiled or not.

Where an edit may be one of several, torch's random numbers choose: a case is made under a seed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.asking.exercise import one_of
from fxbook.checks.models_04 import Chooses

Edit = Callable[[fx.Graph], Any]


def calls(target: Callable[..., Any], *more: Any) -> Callable[[nn.Module], fx.GraphModule]:
    """Makes the traced model with a call of ``target`` behind its result."""

    def build(model: nn.Module) -> fx.GraphModule:
        traced = fx.symbolic_trace(model)
        output = traced.graph.output_node()
        with traced.graph.inserting_before(output):
            output.args = (traced.graph.call_function(target, (output.args[0], *more)),)
        traced.recompile()
        return traced

    return build


def adds_noise(model: nn.Module) -> fx.GraphModule:
    """The traced model with noise added to its result, of a node that reads no input."""
    traced = calls(operator.add, 1.0)(model)
    add = traced.graph.output_node().args[0]
    with traced.graph.inserting_before(add):
        add.args = (add.args[0], traced.graph.call_function(torch.rand, (4,)))
    traced.recompile()
    return traced


def calls_one_of(*targets: Callable[..., Any]) -> Callable[[nn.Module], fx.GraphModule]:
    """As :func:`calls`, of one of these."""
    return lambda model: calls(one_of(*targets))(model)


def calls_a_module(model: nn.Module) -> fx.GraphModule:
    """The traced model with a module of one's own behind its result."""
    traced = fx.symbolic_trace(model)
    traced.chooses = Chooses()
    output = traced.graph.output_node()
    with traced.graph.inserting_before(output):
        output.args = (traced.graph.call_module("chooses", output.args),)
    traced.recompile()
    return traced


def fetches_twice(model: nn.Module) -> fx.GraphModule:
    """Adds the parameter ``scale`` to the result, through a second node that fetches it."""
    traced = fx.symbolic_trace(model)
    output = traced.graph.output_node()
    with traced.graph.inserting_before(output):
        again = traced.graph.get_attr("scale")
        output.args = ((*output.args[0], again),)
    traced.recompile()
    return traced


def fetches_another(model: nn.Module) -> fx.GraphModule:
    """Adds a parameter to the result that nothing else fetches."""
    traced = fx.symbolic_trace(model)
    output = traced.graph.output_node()
    with traced.graph.inserting_before(output):
        weight = traced.graph.get_attr(one_of("body.0.weight", "body.0.bias", "body.1.0.weight"))
        output.args = ((*output.args[0], weight),)
    traced.recompile()
    return traced


def shape_first(model: nn.Module) -> fx.GraphModule:
    """Adds the number of rows to the result; the shape is read at the top, and used at the end."""
    traced = fx.symbolic_trace(model)
    return _with_rows(traced, traced.graph.find_nodes(op="placeholder")[0])


def shape_last(model: nn.Module) -> fx.GraphModule:
    """As :func:`shape_first`, read where it is used."""
    traced = fx.symbolic_trace(model)
    return _with_rows(traced, traced.graph.output_node().prev)


def _with_rows(traced: fx.GraphModule, above: fx.Node) -> fx.GraphModule:
    """Adds the number of rows to the result; the shape is read behind the node ``above``."""
    x, output = traced.graph.find_nodes(op="placeholder")[0], traced.graph.output_node()
    with traced.graph.inserting_after(above):
        shape = traced.graph.call_function(getattr, (x, "shape"))
    with traced.graph.inserting_before(output):
        rows = traced.graph.call_function(operator.getitem, (shape, 0))
        output.args = (traced.graph.call_function(operator.add, (output.args[0], rows)),)
    traced.recompile()
    return traced


def renamed(model: nn.Module) -> fx.GraphModule:
    """The traced model, each call renamed, each node with a note in ``meta``."""
    traced = fx.symbolic_trace(model)
    for number, node in enumerate(traced.graph.nodes):
        node.meta["why"] = f"step {number}"
        if node.op.startswith("call"):
            node._rename(f"step_{number}")
    traced.recompile()
    return traced


def renamed_anew(model: nn.Module) -> fx.GraphModule:
    """The traced model, each call with a name that is another each time."""
    traced = fx.symbolic_trace(model)
    word, first = one_of("step", "line", "part", "call"), int(torch.randint(1, 100, ()))
    for number, node in enumerate(traced.graph.nodes, first):
        if node.op.startswith("call"):
            node._rename(f"{word}_{number}")
    traced.recompile()
    return traced


# ---- edits -----------------------------------------------------------------------------------------------------------


def relus(graph: fx.Graph) -> list[fx.Node]:
    return graph.find_nodes(op="call_function", target=torch.relu)


def tanh_for_relu(graph: fx.Graph) -> None:
    """A good edit."""
    for node in relus(graph):
        node.target = torch.tanh


def another_activation(graph: fx.Graph) -> None:
    """A good edit, of which there are several."""
    target = one_of(torch.tanh, torch.sigmoid, torch.cos, torch.exp)
    for node in relus(graph):
        node.target = target


def insert_neg(graph: fx.Graph) -> None:
    """A good edit that adds a node, in front of the last step."""
    last = graph.output_node().prev
    read = last.all_input_nodes[0]
    with graph.inserting_before(last):
        negated = graph.call_function(torch.neg, (read,))
    last.replace_input_with(read, negated)


def stops_half_way(graph: fx.Graph) -> None:
    """Changes the graph, then raises."""
    tanh_for_relu(graph)
    insert_neg(graph)
    raise ValueError("this pass cannot do the other half")


def breaks_order(graph: fx.Graph) -> None:
    """Leaves a node above one that it reads; ``lint`` refuses it."""
    relu = relus(graph)[0]
    next(iter(relu.users)).append(relu)


def names_nothing(graph: fx.Graph) -> None:
    """Leaves a path at whose end there is nothing; ``lint`` refuses it where the graph has an owner."""
    next(node for node in graph.nodes if node.op == "call_module").target = "gone"


def writes_no_python(graph: fx.Graph) -> None:
    """Leaves an argument whose text is not Python; ``recompile`` refuses it, ``lint`` does not."""
    relu = relus(graph)[0]
    relu.args = (*relu.args, object())


def square_of_up(graph: fx.Graph) -> None:
    relu = relus(graph)[0]
    relu.target, relu.args = torch.matmul, (relu.args[0], relu.args[0])


def typed_square_of_up(graph: fx.Graph) -> None:
    """The failing node has a ``type``, which stands behind its name in the code."""
    relus(graph)[0].type = Tensor
    square_of_up(graph)


def adds_up_in_place(graph: fx.Graph) -> None:
    """``x += up``, whose shapes do not go together."""
    [add] = graph.find_nodes(op="call_function", target=operator.add)
    [up] = graph.find_nodes(op="call_module", target="up")
    add.target, add.args = operator.iadd, (add.args[0], up)


def sound_again(model: nn.Module) -> tuple[fx.GraphModule]:
    """A module whose code fails at ``relu``, and whose graph was mended since."""
    [traced] = edited(square_of_up, True)(model)
    relu = next(node for node in traced.graph.nodes if node.name == "relu")
    relu.target, relu.args = torch.tanh, relu.args[:1]
    return (traced,)


def layer_that_fails(model: nn.Module) -> tuple[fx.GraphModule, Tensor]:
    """The traced block and an input on which one of its layers fails."""
    traced = fx.symbolic_trace(model)
    if one_of(True, False):
        return traced, torch.randn(3, 3)
    x, down = traced.graph.find_nodes(op="placeholder")[0], traced.graph.find_nodes(op="call_module", target="down")[0]
    down.args = (x,)
    traced.recompile()
    return traced, torch.randn(3, 4)


def fetches_nothing(graph: fx.Graph) -> None:
    next(node for node in graph.nodes if node.op == "get_attr").target = "gone"


# ---- modules that are stale, or not ----------------------------------------------------------------------------------


def edited(edit: Edit, compiled: bool = False) -> Callable[[nn.Module], tuple[fx.GraphModule]]:
    """Gives the traced model, edited, and recompiled where asked."""

    def given(model: nn.Module) -> tuple[fx.GraphModule]:
        traced = fx.symbolic_trace(model)
        edit(traced.graph)
        if compiled:
            traced.recompile()
        return (traced,)

    return given


def there_and_back(graph: fx.Graph) -> None:
    """Two edits that leave the graph as it was."""
    tanh_for_relu(graph)
    for node in graph.find_nodes(op="call_function", target=torch.tanh):
        node.target = torch.relu


def add_dead_node(graph: fx.Graph) -> None:
    """An edit that changes the code and no result."""
    last = graph.output_node().prev
    with graph.inserting_after(last):
        graph.call_function(one_of(torch.neg, torch.abs, torch.exp), (one_of(last, last.prev),))


def last_sum_later(graph: fx.Graph) -> None:
    """An edit after which the code has the same calls in another order."""
    [total] = graph.find_nodes(op="call_method", target="sum")
    graph.output_node().prepend(total)
