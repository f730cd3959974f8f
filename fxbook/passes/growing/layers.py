"""The kinds of steps that are typical of real models: convolutions with their norms, attention, embeddings.

A value with too few dimensions is reshaped first, unless views are switched off.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import nn

from fxbook.passes.growing import calls
from fxbook.passes.growing.growth import Growth, Step
from fxbook.passes.growing.values import FEATURES, StepNotApplicable, Value, clipped, one_of

functional = nn.functional
_CONVOLUTIONS = {1: functional.conv1d, 2: functional.conv2d}


def image(graph: Growth, step: Step) -> None:
    """A convolution, usually followed by a norm; or a layer that usually stands between convolutions."""
    value = _of_dimensions(graph, step, 4, 3)
    modules = graph.limits.modules
    if step.call % 4 == 3 and modules:
        _layer(graph, one_of(calls.ON_IMAGES, step.call // 4), value, step)
        return
    layer = one_of(calls.CONVOLUTIONS, step.call // 4)
    as_function = graph.limits.attributes and step.second % 4 == 3
    made = _layer(graph, layer, value, step) if modules and not as_function else _written_out(graph, layer, value)
    if modules and step.call % 4:
        made = _layer(graph, one_of(calls.NORMS, step.second), made, step)
    if step.call % 4 == 2:
        graph.function(torch.relu, made)


def _of_dimensions(graph: Growth, step: Step, *dimensions: int) -> Value:
    """A value with one of these numbers of dimensions; if there is none, or at random, one reshaped to the first."""
    known = graph.numbers(*dimensions)
    if not graph.limits.views or (known and step.first % 4):
        return clipped(known, step.first)
    value = graph.number(step.first)
    if value.example.dim() in dimensions:
        return value
    size = value.row.numel()
    if size % 4 or 4 not in dimensions:
        return graph.function(torch.reshape, value, (-1, 2, size // 2) if size % 2 == 0 else (-1, 1, size))
    return graph.function(torch.reshape, value, (-1, size // 4, 2, 2))


def _layer(graph: Growth, layer: calls.Call, value: Value, step: Step) -> Value:
    # Keywords are rare, as in models; otherwise patterns of two layers would seldom match.
    way = step.way if step.way == 7 else 0
    return graph.spelled("call_module", graph.target(layer, value), (value,), layer.names, way)


def _written_out(graph: Growth, layer: calls.Call, value: Value) -> Value:
    made = graph.module_for(layer, value)
    limits = graph.limits
    if not (limits.attributes and limits.kwargs) or isinstance(made, nn.ConvTranspose1d | nn.ConvTranspose2d):
        raise StepNotApplicable
    path = f"kernel_{len(graph.graph.nodes)}"
    weights = [graph.stored(f"{path}.{name}", held) for name, held in made.named_parameters()]
    settings: dict[str, Any] = {name: getattr(made, name) for name in ("stride", "padding", "dilation")}
    return graph.function(_CONVOLUTIONS[value.example.dim() - 2], value, *weights, **settings)


def attention(graph: Growth, step: Step) -> None:
    """Attention as one call, as a module, or written out."""
    as_module = step.call % 4 == 1 and graph.limits.modules and graph.limits.tuples
    query = _of_dimensions(graph, step, *((3,) if as_module else (3, 4)))
    key, value = graph.like(query, step.second, 2, exact=True)
    if as_module:
        width = query.example.shape[-1]
        made = graph.filled(nn.MultiheadAttention(width, 2 if width % 2 == 0 else 1, batch_first=True))
        named = {"need_weights": False} if graph.limits.kwargs else {}
        both = graph.add("call_module", graph.set_module(made), (query, key, value), named, several=True)
        graph.function(operator.getitem, both, 0)
    elif step.call % 4 == 3:
        turned = graph.method("transpose", key, -2, -1)
        scores = graph.function(one_of((torch.matmul, operator.matmul), step.way), query, turned)
        scaled = graph.function(operator.truediv, scores, query.example.shape[-1] ** 0.5)
        weights = graph.spelled("call_function", torch.softmax, (scaled, -1), ("input", "dim"), 1)
        graph.function(torch.matmul, weights, value)
    else:
        named = {"is_causal": step.way % 2 == 1} if graph.limits.kwargs else {}
        graph.function(functional.scaled_dot_product_attention, query, key, value, **named)


def index(graph: Growth, step: Step) -> None:
    """Integers, new or existing, and a call that uses them as an index."""
    known = [value for value in graph.values if value.below]
    if known and step.way % 2:
        held = _changed(graph, clipped(known, step.first), step)
    else:
        call = one_of(calls.INDICES, step.second)
        of = graph.number(step.first)
        held = graph.spelled(
            call.op,
            call.target,
            (of, *call.more),
            call.names,
            step.way,
            below=of.example.shape[-1],
            **dict(call.named),
        )
    _looked_up(graph, held, step)


def _changed(graph: Growth, held: Value, step: Step) -> Value:
    if step.second % 4 == 1:
        return graph.function(
            torch.remainder, graph.function(operator.add, held, 1, below=held.below + 1), held.below, below=held.below
        )
    if step.second % 4 == 2:
        return graph.function(operator.floordiv, held, 2, below=held.below)
    if step.second % 4 == 3:
        return graph.method("clamp", held, max=1, below=min(held.below, 2))
    return held


def _looked_up(graph: Growth, held: Value, step: Step) -> None:
    limits = graph.limits
    match step.call % 5:
        case 0 | 1 if limits.modules and not (limits.attributes and step.call % 4 == 3):
            made = graph.filled(nn.Embedding(held.below, FEATURES))
            graph.spelled("call_module", graph.set_module(made), (held,), ("input",), step.way)
        case 0 | 1 if limits.attributes:
            table = graph.stored(f"table_{held.below}", nn.Parameter(graph.drawn(held.below, FEATURES)))
            graph.function(functional.embedding, held, table)
        case 2:
            shape = held.example.shape
            fitting = [
                value
                for value in graph.numbers(len(shape))
                if value.example.shape[-1] >= held.below and value.example.shape[:-1] == shape[:-1]
            ]
            graph.function(torch.gather, clipped(fitting, step.second), -1, held)
        case 3:
            hot = graph.function(functional.one_hot, held, held.below, below=2)
            graph.method("to", hot, limits.dtype)
        case _:
            graph.method("to", held, limits.dtype)
