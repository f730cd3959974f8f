"""What the cases of chapter 04 share: models, edits to their graphs, and what is recorded about an answer.

Random choices use torch's generator, which is seeded before a case is made.
"""

# No `from __future__ import annotations`: annotations that are strings are kept in the graph, and cannot be pickled.
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases.exercise import one_of
from fxbook.graph.naming import call_text

Edit = Callable[[fx.Graph], Any]
Given = Callable[[nn.Module], tuple[Any, ...]]


# ---- models ----------------------------------------------------------------------------------------------------------


def rows() -> tuple[Tensor, ...]:
    """One input of three rows."""
    return (torch.randn(3, 4),)


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
    """Contains nothing that an activation pass would change."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x).tanh()


class Wrapped(nn.Module):
    """A block inside a module that is not a ``GraphModule``."""

    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.block = block

    def forward(self, x: Tensor) -> Tensor:
        return self.block(x)


# ---- traced models ---------------------------------------------------------------------------------------------------


def calls(target: Callable[..., Any], *more: Any) -> Callable[[nn.Module], fx.GraphModule]:
    """Returns a function that traces a model and calls ``target`` on its result."""

    def build(model: nn.Module) -> fx.GraphModule:
        traced = fx.symbolic_trace(model)
        output = traced.graph.output_node()
        with traced.graph.inserting_before(output):
            output.args = (traced.graph.call_function(target, (output.args[0], *more)),)
        traced.recompile()
        return traced

    return build


def calls_one_of(*targets: Callable[..., Any]) -> Callable[[nn.Module], fx.GraphModule]:
    """Like :func:`calls`, with one of these targets, chosen at random."""
    return lambda model: calls(one_of(*targets))(model)


def block() -> fx.GraphModule:
    """The block of the chapter, traced."""
    return fx.symbolic_trace(FeedForward())


def in_a_row(**blocks: nn.Module) -> fx.GraphModule:
    """A GraphModule that calls the blocks one after another; making it compiles the traced ones among them."""
    graph = fx.Graph()
    value = graph.placeholder("x")
    for name in blocks:
        value = graph.call_module(name, (value,))
    graph.output(value)
    return fx.GraphModule(blocks, graph)


def renamed(model: nn.Module, arguments: dict[str, Any] | None = None) -> fx.GraphModule:
    """The model traced with ``arguments`` as ``concrete_args``; each call is renamed, and each ``meta`` has a note."""
    traced = fx.symbolic_trace(model, concrete_args=arguments)
    for number, node in enumerate(traced.graph.nodes):
        node.meta["why"] = f"step {number}"
        if node.op.startswith("call"):
            node._rename(f"step_{number}")
    traced.recompile()
    return traced


def alone(build: Callable[[nn.Module], fx.GraphModule]) -> Given:
    """Makes the answer's argument from the model with ``build``."""
    return lambda model: (build(model),)


def edited(edit: Edit, compiled: bool = False) -> Given:
    """Makes the answer's argument: the traced model, edited, and recompiled if ``compiled``."""

    def given(model: nn.Module) -> tuple[fx.GraphModule]:
        traced = fx.symbolic_trace(model)
        edit(traced.graph)
        if compiled:
            traced.recompile()
        return (traced,)

    return given


# ---- edits -----------------------------------------------------------------------------------------------------------


def relus(graph: fx.Graph) -> list[fx.Node]:
    return graph.find_nodes(op="call_function", target=torch.relu)


def tanh_for_relu(graph: fx.Graph) -> None:
    """A valid edit."""
    for node in relus(graph):
        node.target = torch.tanh


def insert_neg(graph: fx.Graph) -> None:
    """A valid edit, which adds a node before the last step."""
    last = graph.output_node().prev
    read = last.all_input_nodes[0]
    with graph.inserting_before(last):
        negated = graph.call_function(torch.neg, (read,))
    last.replace_input_with(read, negated)


# ---- what is recorded about an answer --------------------------------------------------------------------------------


def calls_of(traced: fx.GraphModule) -> list[str]:
    """The graph as text: for each node, a line with its ``meta``, in which a value that is not text is left out."""
    notes = [sorted(map(_note, node.meta.items())) for node in traced.graph.nodes]
    notes = [[note for note in of_one if note != "fxbook_origin"] for of_one in notes]
    return [f"{node.name} = {call_text(node)} {kept}" for node, kept in zip(traced.graph.nodes, notes, strict=True)]


def _note(item: tuple[Any, Any]) -> str:
    key, value = item
    return f"{key}: {value}" if isinstance(value, str) else str(key)


def graph_modules(model: nn.Module) -> dict[str, fx.GraphModule]:
    """The traced modules in a model, including the model itself, by path."""
    return {path: module for path, module in model.named_modules() if isinstance(module, fx.GraphModule)}


def said_of(answer: Callable[..., Any], traced: fx.GraphModule, *inputs: Tensor) -> dict[str, Any]:
    """What the answer returns for a module and any inputs, and the state in which it leaves the module."""
    inside = graph_modules(traced)
    before = {path: module.code for path, module in inside.items()}
    said = answer(traced, *inputs)
    return {
        "said": said,
        "owned": traced.graph.owning_module is traced,
        "compiled": [path for path, module in inside.items() if module.code != before[path]],
    }
