"""The kinds of steps: calls, in-place writes, views, tuples, masks, sizes.

Each takes the graph and the numbers of the step, and raises ``StepNotApplicable`` if it cannot be done.
"""

from __future__ import annotations

import dataclasses
import operator

import torch
from torch import nn

from fxbook.passes.growing import calls
from fxbook.passes.growing.growth import Growth, Step
from fxbook.passes.growing.values import (
    FEATURES,
    clipped,
    copied,
    one_of,
    small,
    storage,
    swapped,
)


def own(graph: Growth, step: Step) -> None:
    call = one_of(graph.limits.added, step.call)
    first = graph.number(step.first)
    args = (first, *graph.like(first, step.second, call.tensors - 1))
    graph.add(call.op, graph.target(call, first), args, {}, wanted=True)


def function(graph: Growth, step: Step) -> None:
    graph.call(one_of(calls.FUNCTIONS, step.call), step)


def method(graph: Growth, step: Step) -> None:
    graph.call(one_of(calls.METHODS, step.call), step)


def view(graph: Growth, step: Step) -> None:
    graph.call(one_of(calls.VIEWS, step.call), step)


def with_number(graph: Growth, step: Step) -> None:
    """A call with a tensor and a number: ``x + 0``, ``x * 1``, ``2 - x``."""
    number = one_of(calls.NUMBERS, step.second)
    if step.call % 5 == 4:
        graph.function(one_of(calls.NUMBER_FIRST, step.call // 5), number, graph.number(step.first))
        return
    call = one_of(calls.WITH_NUMBER, step.call)
    names = (*call.names, "other") if call.names else ()
    graph.call(dataclasses.replace(call, more=(number,), names=names), step)


def in_place(graph: Growth, step: Step) -> None:
    """A call that writes into its first tensor; later steps use the node of the call or that of the tensor."""
    call = one_of(calls.IN_PLACE, step.call)
    into = clipped([value for value in graph.numbers() if graph.may_be_written(value)], step.first)
    others = graph.like(into, step.second, call.tensors - 1)
    with torch.no_grad():
        # The call is tried on copies before it really writes.
        for args in map(copied, graph.at((into, *others))):
            if call.op != "call_module":
                small(graph.run(call.op, call.target, (*args, *call.more), dict(call.named)))
    args = (into, *others, *call.more)
    written = graph.spelled(call.op, graph.target(call, into), args, call.names, step.way, **dict(call.named))
    graph.pure.remove(written.node)


def attribute(graph: Growth, step: Step) -> None:
    """A parameter or a buffer, and its sum or product with a value."""
    value = graph.number(step.first)
    width = value.example.shape[-1]
    path = one_of(("scale", "shift", "block.scale", "offset"), step.second)
    is_buffer = path in ("shift", "offset")
    drawn = graph.drawn(width)
    fetched = graph.stored(
        f"{path}_{width}" if width != FEATURES else path, drawn if is_buffer else nn.Parameter(drawn)
    )
    graph.function(one_of((operator.mul, operator.add, torch.mul, torch.sub), step.call), value, fetched)


def several(graph: Growth, step: Step) -> None:
    if step.call % 2:
        call = one_of(calls.PACKED, step.call // 2)
        first = graph.number(step.first)
        packed = [first, *graph.like(first, step.second, call.tensors - 1, exact=True)]
        args = (tuple(packed) if step.way % 2 else packed, *call.more)
        graph.spelled(call.op, call.target, args, call.names, step.way // 2, **dict(call.named))
        return
    call = one_of(calls.UNPACKED, step.call // 2)
    whole = graph.call(call, step, several=True)
    # torch cannot differentiate through a write into one of several views.
    graph.guarded |= {storage(part) for parts in whole.at for part in parts}
    count = 1 if call.target in (torch.max,) else min(len(part) for part in whole.at)
    for item in range(min(count, 1 + step.second % 2)):
        graph.function(operator.getitem, whole, item)


def mask(graph: Growth, step: Step) -> None:
    """A comparison with zero, or an existing mask, and a call that uses it."""
    value = graph.number(step.first)
    known = [one for one in graph.values if one.is_mask and one.example.shape == value.example.shape]
    if known and step.way % 2:
        held = clipped(known, step.second)
        held = graph.function(operator.invert if step.way % 4 == 1 else torch.logical_not, held)
    else:
        held = graph.function(one_of(calls.COMPARISONS, step.call // 3), value, 0)
    if step.call % 3 == 0 or not graph.limits.methods:
        (other,) = graph.like(value, step.second, 1, exact=True)
        graph.function(torch.where, held, value, other)
    elif step.call % 3 == 1:
        graph.method("masked_fill", value, held, 0.5)
    else:
        graph.method("to", held, graph.limits.dtype)


def size(graph: Growth, step: Step) -> None:
    """The number of rows, taken from one value and used for another."""
    limits, value, other = graph.limits, graph.number(step.first), graph.number(step.second)
    if step.call % 2 or not limits.methods:
        shape = graph.function(getattr, value, "shape", among=False)
        rows = graph.function(operator.getitem, shape, 0, among=False)
    else:
        rows = graph.method("size", value, 0, among=False)
    if not limits.views:
        graph.function(operator.truediv, other, rows)
    elif limits.methods:
        graph.method("reshape" if step.way % 2 else "view", other, rows, -1)
    else:
        graph.function(torch.reshape, other, (rows, -1))


def repeat(graph: Growth, step: Step) -> None:
    pure = set(graph.pure)
    known = [value for value in graph.values if value.node in pure]
    twin = clipped(known, step.first)
    args, kwargs = swapped((twin.node.args, twin.node.kwargs), torch.fx.Node, graph.value_of.__getitem__)
    graph.add(twin.node.op, twin.node.target, args, kwargs, below=twin.below, wanted=True)


def module(graph: Growth, step: Step) -> None:
    """A module: a new one, one that is already called, one at a second path, or one that shares a weight."""
    known = [(path, module) for path, module in graph.made() if not getattr(module, "inplace", False)]
    manner = step.way // 2 % 4
    if not known or not manner:
        graph.call(one_of(calls.MODULES, step.call), step)
        return
    path, called = known[min(step.call, len(known) - 1)]
    if manner == 2:
        path = graph.set_module(called, f"also_{len(known)}")
    elif manner == 3 and isinstance(called, nn.Linear):
        tied = graph.filled(nn.Linear(called.in_features, called.out_features))
        tied.weight = called.weight
        path = graph.set_module(tied, f"tied_{len(known)}")
    graph.spelled("call_module", path, (graph.number(step.first),), ("input",), step.way)
