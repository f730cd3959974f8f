"""Modules whose program survives a pickle, and modules whose program does not."""

# No `from __future__ import annotations`: annotations that are strings are kept in the graph, and cannot be pickled.
import operator
from collections.abc import Callable
from typing import Any

import torch

# A failing Interpreter needs this import, which would exceed an answer's time limit.
import torch._dynamo
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of
from fxbook.cases.importable import double, halve, magnitude, mul

from ..cases import FeedForward, Gated, alone, calls, calls_one_of, edited, renamed, rows, said_of, tanh_for_relu


class Chooses(nn.Module):
    """A user-defined module that tracing cannot enter."""

    def forward(self, value: Tensor) -> Tensor:
        return magnitude(value)


class Noisy(nn.Module):
    """Adds noise, with new random numbers in each call."""

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.rand_like(x)


def adds_noise(model: nn.Module) -> fx.GraphModule:
    """The traced model with noise added to its result, from a node without inputs."""
    traced = calls(operator.add, 1.0)(model)
    add = traced.graph.output_node().args[0]
    with traced.graph.inserting_before(add):
        add.args = (add.args[0], traced.graph.call_function(torch.rand, (4,)))
    traced.recompile()
    return traced


def calls_in_vain(target: Callable[..., Any]) -> Callable[[nn.Module], fx.GraphModule]:
    """Returns a function that traces a model and adds a call to ``target``, whose result no node uses."""

    def build(model: nn.Module) -> fx.GraphModule:
        traced = fx.symbolic_trace(model)
        [value] = traced.graph.find_nodes(op="placeholder")
        with traced.graph.inserting_after(value):
            traced.graph.call_function(target, (value,))
        traced.recompile()
        return traced

    return build


def calls_a_module(model: nn.Module) -> fx.GraphModule:
    """The traced model with a call to a user-defined module on its result."""
    traced = fx.symbolic_trace(model)
    traced.chooses = Chooses()
    output = traced.graph.output_node()
    with traced.graph.inserting_before(output):
        output.args = (traced.graph.call_module("chooses", output.args),)
    traced.recompile()
    return traced


def fetches_twice(model: nn.Module) -> fx.GraphModule:
    """Adds the parameter ``scale`` to the result, through a second node that fetches it."""
    return _with_weight(fx.symbolic_trace(model), "scale")


def fetches_another(model: nn.Module) -> fx.GraphModule:
    """Adds to the result a parameter that nothing else fetches."""
    traced = fx.symbolic_trace(model)
    return _with_weight(traced, one_of("body.0.weight", "body.0.bias", "body.1.0.weight"))


def _with_weight(traced: fx.GraphModule, path: str) -> fx.GraphModule:
    output = traced.graph.output_node()
    with traced.graph.inserting_before(output):
        output.args = ((*output.args[0], traced.graph.get_attr(path)),)
    traced.recompile()
    return traced


def shape_first(model: nn.Module) -> fx.GraphModule:
    """Adds the number of rows to the result; the shape is taken right after the input and used at the end."""
    traced = fx.symbolic_trace(model)
    return _with_rows(traced, traced.graph.find_nodes(op="placeholder")[0])


def shape_last(model: nn.Module) -> fx.GraphModule:
    """Like :func:`shape_first`, but the shape is taken where it is used."""
    traced = fx.symbolic_trace(model)
    return _with_rows(traced, traced.graph.output_node().prev)


def _with_rows(traced: fx.GraphModule, above: fx.Node) -> fx.GraphModule:
    """Adds the number of rows to the result; the shape is taken after the node ``above``."""
    x, output = traced.graph.find_nodes(op="placeholder")[0], traced.graph.output_node()
    with traced.graph.inserting_after(above):
        shape = traced.graph.call_function(getattr, (x, "shape"))
    with traced.graph.inserting_before(output):
        count = traced.graph.call_function(operator.getitem, (shape, 0))
        output.args = (traced.graph.call_function(operator.add, (output.args[0], count)),)
    traced.recompile()
    return traced


USAGE = Usage(
    "compute",
    cases=(
        Case("the block of the chapter", FeedForward, rows, given=alone(fx.symbolic_trace)),
        Case("a user-defined function", FeedForward, rows, given=alone(calls_one_of(double, halve))),
        Case("renamed nodes", FeedForward, rows, True, alone(renamed)),
        Case("a function with the name of an operator", FeedForward, rows, True, alone(calls(mul, 2))),
        Case("an edit that was not compiled", FeedForward, rows, True, edited(tanh_for_relu)),
        Case("nested modules and a weight", Gated, rows, True, alone(fx.symbolic_trace)),
        Case("noise with the shape of an input", Noisy, rows, True, alone(fx.symbolic_trace)),
        Case("noise without an input", FeedForward, rows, True, alone(adds_noise)),
        Case("an addition in place", FeedForward, rows, True, alone(calls(operator.iadd, 1.0))),
        Case("a lambda without users", FeedForward, rows, True, alone(calls_in_vain(lambda value: value * 2))),
        Case("a function that chooses", FeedForward, rows, True, alone(calls(magnitude))),
        Case("a user-defined module that chooses", FeedForward, rows, True, alone(calls_a_module)),
        Case("a weight fetched twice", Gated, rows, True, alone(fetches_twice)),
        Case("a shape taken early and used late", FeedForward, rows, True, alone(shape_first)),
        Case("an addition", FeedForward, rows, True, alone(calls(operator.add, 1.0))),
        Case("a weight that nothing else fetches", Gated, rows, True, alone(fetches_another)),
        Case("a shape taken where it is used", FeedForward, rows, True, alone(shape_last)),
    ),
    call=said_of,
)
