"""Edits, valid or not, each to be tried on a module with renamed nodes and values in ``meta``."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.graph.record import record

from ..cases import Edit, FeedForward, Gated, Given, calls_of, insert_neg, relus, renamed, rows, tanh_for_relu


class StoppedError(BaseException):
    """Like ``KeyboardInterrupt``, stops a program and is not an ``Exception``."""


class FromADict(nn.Module):
    """Takes its input from a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.body = Gated()

    def forward(self, given: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        return self.body(given["rows"])


def stops_half_way(graph: fx.Graph) -> None:
    """Changes the graph, then raises."""
    tanh_for_relu(graph)
    insert_neg(graph)
    raise ValueError("this pass cannot do the other half")


def leaves_dead_nodes(graph: fx.Graph) -> None:
    """A valid edit, which adds a used node and, before it, an unused one."""
    insert_neg(graph)
    with graph.inserting_after(next(iter(graph.nodes))):
        graph.call_function(torch.sin, (next(iter(graph.nodes)),))


def is_stopped(graph: fx.Graph) -> None:
    """Changes the graph, leaves a target that names no module, then raises an error whose class no answer can know."""
    tanh_for_relu(graph)
    insert_neg(graph)
    names_nothing(graph)
    raise StoppedError


def is_interrupted(graph: fx.Graph) -> None:
    """Changes the graph and the names of nodes, then raises the error of Ctrl-C."""
    tanh_for_relu(graph)
    for node in graph.nodes:
        if node.op.startswith("call"):
            node._rename(f"new_{node.name}")
    raise KeyboardInterrupt


def changes_meta(graph: fx.Graph) -> None:
    """Changes only ``meta``, which neither the code nor the printed graph shows, then raises."""
    for node in graph.nodes:
        node.meta["why"] = "rewritten"
    raise ValueError("this pass changes its mind")


def breaks_order(graph: fx.Graph) -> None:
    """Leaves a node after its user."""
    relu = relus(graph)[0]
    next(iter(relu.users)).append(relu)


def names_nothing(graph: fx.Graph) -> None:
    """Leaves a target that names no module."""
    next(node for node in graph.nodes if node.op == "call_module").target = "gone"


def writes_no_python(graph: fx.Graph) -> None:
    """Leaves an argument that the code cannot contain, because its text is not Python."""
    relu = relus(graph)[0]
    relu.args = (*relu.args, object())


def edit_of(edit: Edit, *, stale: bool = False) -> Given:
    """Makes a module with renamed nodes and values in ``meta``, together with the edit to try on it."""

    def given(model: nn.Module) -> tuple[fx.GraphModule, Edit]:
        traced = renamed(model, {"given": {"rows": fx.PH}} if isinstance(model, FromADict) else None)
        # A mutable value: a deep copy of it is a different object.
        list(traced.graph.nodes)[1].meta["value"] = ["kept"]
        if stale:
            insert_neg(traced.graph)
        return traced, edit

    return given


def takes(traced: fx.GraphModule) -> list[str]:
    """The names of the inputs that a call to the module takes."""
    return list(inspect.signature(traced.forward).parameters)


def tried(answer: Callable[..., Any], traced: fx.GraphModule, edit: Edit) -> dict[str, Any]:
    """The state of the module after ``with answer(traced) as graph: edit(graph)``, and the error that was raised."""
    kind, raised, thrown = None, None, None
    values = {node.name: node.meta.get("value") for node in traced.graph.nodes}
    manager = answer(traced)
    if not hasattr(type(manager), "__enter__"):
        return {"manager": type(manager).__name__}
    try:
        # Copying a module that takes a dict makes torch warn about its own use of pytree.
        with warnings.catch_warnings(action="ignore", category=FutureWarning), manager as graph:
            kind = type(graph).__name__
            try:
                edit(graph if isinstance(graph, fx.Graph) else traced.graph)
            except BaseException as error:
                thrown = error
                raise
    except (Exception, KeyboardInterrupt, StoppedError) as error:
        if kind is None:
            raise
        raised = error
    owner = traced.graph.owning_module
    after = None if owner is None else record(traced)
    return {
        "as": kind,
        "raised": None if raised is None else type(raised).__name__,
        "itself": raised is thrown,
        "nodes": calls_of(traced),
        "copied": [node.name for node in traced.graph.nodes if node.meta.get("value") is not values.get(node.name)],
        "takes": takes(traced),
        "lint": after and after.lint,
        "stale": after and after.stale,
        "owned": owner is traced,
        "has an owner": owner is not None,
    }


USAGE = Usage(
    "compute",
    cases=(
        Case("a valid edit", FeedForward, rows, given=edit_of(tanh_for_relu)),
        Case("an edit that stops half-way", FeedForward, rows, given=edit_of(stops_half_way)),
        Case("an edit that breaks the order", FeedForward, rows, given=edit_of(breaks_order)),
        Case("an edit that adds nodes", Gated, rows, True, edit_of(leaves_dead_nodes)),
        Case("a target that names no module", Gated, rows, True, edit_of(names_nothing)),
        Case("an argument that is not Python", FeedForward, rows, True, edit_of(writes_no_python)),
        Case("an interrupted block, on a stale module", FeedForward, rows, True, edit_of(is_interrupted, stale=True)),
        Case(
            "an error that is not an Exception, on a stale module", Gated, rows, True, edit_of(is_stopped, stale=True)
        ),
        Case("new `meta`, on a module that takes a dict", FromADict, rows, True, edit_of(changes_meta)),
        Case("a target that names no module, on a stale module", Gated, rows, True, edit_of(names_nothing, stale=True)),
        Case("no edit, on a stale module", FeedForward, rows, True, edit_of(lambda graph: None, stale=True)),
    ),
    call=tried,
)
