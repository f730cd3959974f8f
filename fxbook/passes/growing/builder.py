"""Build a graph from a list of steps. Any list gives a valid graph, because impossible steps are skipped."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor, fx

from fxbook.passes.growing import layers, steps
from fxbook.passes.growing.dialects import in_aten
from fxbook.passes.growing.growth import Growth, Step
from fxbook.passes.growing.limits import Limits
from fxbook.passes.growing.values import FEATURES, IMAGE, ROWS, TOKENS, VOCABULARY, StepNotApplicable, storage, tensors

_NAMES = ("x", "y", "z")
_KINDS_OF_INPUTS = (*["features"] * 5, "image", "tokens", "mask")


def grown(
    limits: Limits, taken: Sequence[Step], *, inputs: int = 1, shapes: int = 0, form: int = 0, seed: int = 0
) -> fx.GraphModule:
    """Start with inputs, do the steps, add an output, and compile.

    ``shapes`` chooses the shape of a row of each input (0 makes every row a vector of features); ``form`` chooses the
    form of the output.
    """
    # Creating modules draws initial weights, which are then replaced.
    with torch.random.fork_rng(devices=[]):
        return _grown(limits, taken, inputs, shapes, form, seed)


def _grown(limits: Limits, taken: Sequence[Step], inputs: int, shapes: int, form: int, seed: int) -> fx.GraphModule:
    graph = Growth(limits, seed)
    for place in range(inputs):
        _input(graph, _NAMES[place] if inputs <= len(_NAMES) else f"input_{place}", _kind(limits, place, shapes))
    kinds = tuple(_offered(limits))
    with torch.autograd.graph.saved_tensors_hooks(graph.save, lambda saved: saved), torch.enable_grad():
        for number, step in enumerate(taken, 1):
            graph.where = f"step {number}"
            with contextlib.suppress(StepNotApplicable):
                kinds[step.kind % len(kinds)](graph, step)
    _output(graph, form)
    if not limits.dead_code:
        _sweep(graph)
    # This is done last, since GraphModule creates modules for nested paths, in training mode.
    module = fx.GraphModule(graph.root, graph.graph, "RandomGraph").train(limits.train)
    return in_aten(module) if limits.dialect == "aten" else module


def _offered(limits: Limits) -> Iterator[Callable[[Growth, Step], None]]:
    """The kinds of steps; frequent kinds are repeated."""
    if limits.functions is not None:
        yield steps.own
        return
    yield from [steps.function] * 5
    yield from [steps.with_number] * 2
    yield from [steps.module] * 3 * limits.modules
    yield from [steps.method] * 2 * limits.methods
    yield from [steps.in_place] * 5 * limits.in_place
    yield from [steps.attribute] * 2 * limits.attributes
    yield from [steps.several] * 2 * limits.tuples
    yield from [steps.view] * 2 * limits.views
    yield from [steps.repeat] * 2 * limits.repeats
    yield from [steps.mask] * limits.masks
    yield from [steps.size] * limits.sizes
    yield from [layers.image] * 3 * limits.images
    yield from [layers.index] * limits.integers
    yield from [layers.attention] * limits.attention
    yield from [steps.own] * 4 * bool(limits.also)


def _kind(limits: Limits, place: int, shapes: int) -> str:
    """The kind of row in an input: floating-point for the first input, and features for a user's own functions."""
    kind = _KINDS_OF_INPUTS[shapes // len(_KINDS_OF_INPUTS) ** (place % 2) % len(_KINDS_OF_INPUTS)]
    allowed = {"image": limits.images, "tokens": limits.integers and place, "mask": limits.masks and place}
    return kind if limits.functions is None and allowed.get(kind) else "features"


def _input(graph: Growth, name: str, kind: str) -> None:
    below = VOCABULARY if kind == "tokens" else 0
    at: tuple[Tensor, ...]
    match kind:
        case "tokens":
            at = tuple(graph.whole(below, rows, TOKENS) for rows in ROWS)
        case "mask":
            at = tuple(graph.whole(2, rows, FEATURES).bool() for rows in ROWS)
        case _:
            row = IMAGE if kind == "image" else (FEATURES,)
            at = tuple(graph.drawn(rows, *row).requires_grad_() for rows in ROWS)
    node = graph.graph.placeholder(name)
    graph.keep(node, at, below=below)
    if below:
        node.meta["range"] = (0, below)
    graph.guarded |= {storage(value) for value in at}


def _output(graph: Growth, form: int) -> None:
    numbers = graph.numbers()
    last, first = numbers[-1].node, numbers[0].node
    # The value may hold integers or booleans.
    middle = graph.values[len(graph.values) // 2].node
    forms = (
        last,
        (last, middle),
        {"last": last, "middle": middle},
        [last, first],
        (last, last),
        {"pair": (last, middle), "list": [first]},
        (last, None, 2),
        (last,),
    )
    graph.graph.output(forms[form % len(forms)] if graph.limits.several_outputs else last)


def _sweep(graph: Growth) -> None:
    """Erase what the output does not need. It needs a write if a later node that it needs reads the same storage."""
    without_effect = {*graph.pure, *graph.graph.find_nodes(op="get_attr")}
    ends = {*graph.graph.find_nodes(op="placeholder"), graph.graph.output_node()}
    read: set[int] = set()
    for node in reversed(list(graph.graph.nodes)):
        if node.users or node in ends or (node not in without_effect and read & _storages(graph, node)):
            read.update(*(_storages(graph, one) for one in node.all_input_nodes))
        else:
            graph.graph.erase_node(node)


def _storages(graph: Growth, node: fx.Node) -> set[int]:
    return {storage(one) for one in tensors(graph.value_of[node].at)}
