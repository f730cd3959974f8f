"""The models of the exercises of chapter 04, the functions they call, and the edits that are tried on them."""

# No `from __future__ import annotations`: annotations that are strings are kept in the graph, and cannot be pickled.
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

Edit = Callable[[fx.Graph], Any]


class FeedForward(nn.Module):
    """The block of the chapter."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(4, 8)
        self.down = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(torch.relu(self.up(x)))


class Gated(nn.Module):
    """Two activations, a path through two modules, a parameter, and a result that is a tuple."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4)))
        self.scale = nn.Parameter(torch.rand(4) + 1.0)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        hidden = torch.relu(self.body(x)) * self.scale
        return hidden.sum(dim=-1), torch.relu(hidden - x)


class Plain(nn.Module):
    """Has nothing in it that an activation pass would change."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x).tanh()


class Mixed(nn.Module):
    """ReLU in four spellings, of which ``torch.relu`` is one."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.relu(self.first(x)) - nn.functional.relu(x)
        return torch.relu(hidden) + (hidden * x).relu()


class Chooses(nn.Module):
    """A module of one's own that cannot be traced into."""

    def forward(self, value: Tensor) -> Tensor:
        return magnitude(value)


class Noisy(nn.Module):
    """Adds noise, which is drawn in each call."""

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.rand_like(x)


class Wrapped(nn.Module):
    """A block inside a module that is no ``GraphModule``."""

    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.block = block

    def forward(self, x: Tensor) -> Tensor:
        return self.block(x)


# ---- functions that graphs call --------------------------------------------------------------------------------------


def double(value: Tensor) -> Tensor:
    """A function of one's own: loading a pickle traces into it."""
    return value * 2


def magnitude(value: Tensor) -> Tensor:
    """A function of one's own that cannot be traced into."""
    return value if value.sum() > 0 else -value


def refuses(value: Tensor) -> Tensor:
    """A function of one's own that raises."""
    raise ValueError(f"refused: {value.dim()} dimensions")


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


def shape_first(model: nn.Module) -> fx.GraphModule:
    """Adds the number of rows to the result; the shape is read at the top, and used at the end."""
    traced = fx.symbolic_trace(model)
    x, output = traced.graph.find_nodes(op="placeholder")[0], traced.graph.output_node()
    with traced.graph.inserting_after(x):
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


# ---- edits -----------------------------------------------------------------------------------------------------------


def relus(graph: fx.Graph) -> list[fx.Node]:
    return graph.find_nodes(op="call_function", target=torch.relu)


def tanh_for_relu(graph: fx.Graph) -> None:
    """A good edit."""
    for node in relus(graph):
        node.target = torch.tanh


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
        graph.call_function(torch.neg, (last,))


def last_sum_later(graph: fx.Graph) -> None:
    """An edit after which the code has the same calls in another order."""
    [total] = graph.find_nodes(op="call_method", target="sum")
    graph.output_node().prepend(total)


# ---- modules inside modules ------------------------------------------------------------------------------------------


def block() -> fx.GraphModule:
    return fx.symbolic_trace(FeedForward())


def in_a_row(**blocks: nn.Module) -> fx.GraphModule:
    """A traced module that calls one block after another; making it compiles the blocks that are traced."""
    graph = fx.Graph()
    value = graph.placeholder("x")
    for name in blocks:
        value = graph.call_module(name, (value,))
    graph.output(value)
    return fx.GraphModule(blocks, graph)


def all_stale(model: nn.Module) -> nn.Module:
    """The model, with an edit in each traced module in it, itself included, that is not compiled."""
    for module in model.modules():
        if isinstance(module, fx.GraphModule):
            insert_neg(module.graph)
    return model


def beside_a_sequential() -> nn.Module:
    """The module of the chapter."""
    return all_stale(in_a_row(near=block(), blocks=nn.Sequential(block())))


def under_a_plain_root() -> nn.Module:
    """The root is no ``GraphModule``, and what it holds stands beside each other and deeper."""
    return all_stale(nn.Sequential(Wrapped(block()), block(), nn.Linear(4, 4)))


def several_levels() -> nn.Module:
    """A plain module between two traced ones, twice."""
    return all_stale(in_a_row(outer=Wrapped(in_a_row(inner=Wrapped(block()), last=nn.Tanh()))))


def with_a_stale_child(model: nn.Module) -> tuple[fx.GraphModule]:
    """A module that is up to date, and calls one that is not."""
    whole = in_a_row(near=fx.symbolic_trace(model))
    all_stale(whole.near)
    return (whole,)
