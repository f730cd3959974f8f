"""Awkward values for all cases: an answer that is right for usual values is often wrong for one of these.

Use them in a case unless the task excludes them, and several at once, since many mistakes need two of them: a weight
that is frozen *and* tied, a buffer that is written *and* returned.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn

# Some are easily confused: hash(-1) == hash(-2), True == 1 == 1.0, float32 rounds both 0.1 alike, float16 lacks 2049.
NUMBERS = (-1, -2, 0, False, 1, 1.0, True, 0.1, 0.10000000001, 2049)


def odd_weights(model: nn.Module) -> nn.Module:
    """Freeze and zero some weights of the model, and add scalar buffers, one of them not persistent."""
    for place, weight in enumerate(model.parameters()):
        weight.requires_grad_(place % 2 == 0)
        if place % 3 == 1:
            nn.init.zeros_(weight)
    model.register_buffer("seen", torch.zeros(()))
    model.register_buffer("limit", torch.ones((), dtype=torch.float64), persistent=False)
    return model


def tied(model: nn.Module, *names: str) -> nn.Module:
    weight = model.get_parameter(names[0])
    for name in names[1:]:
        path, _, own = name.rpartition(".")
        setattr(model.get_submodule(path), own, weight)
    return model


def add_in_place(value: Any, other: Any) -> Any:
    """``value += other``, recorded as ``torch.compile`` records it; ``fx.symbolic_trace`` records ``operator.add``."""
    if isinstance(value, fx.Proxy):
        return value.tracer.create_proxy("call_function", operator.iadd, (value, other), {})
    return operator.iadd(value, other)


def crowded(module: fx.GraphModule) -> fx.GraphModule:
    """The module with dead nodes and namesakes.

    Each call that uses no result of another call is followed by a copy without users. No node is named after what it
    calls, and for each call, the module has a buffer with the same name. In `users`, the last users are first.
    """
    calls = [node for node in module.graph.nodes if node.op.startswith("call")]
    for node in calls:
        if not _has_effect(module, node) and not set(calls).intersection(node.all_input_nodes):
            with module.graph.inserting_after(node):
                module.graph.node_copy(node)
    for place, node in enumerate(node for node in module.graph.nodes if node.op.startswith("call")):
        node._rename(f"step_{place}")
        if node in calls and not hasattr(module, node.name):
            module.register_buffer(node.name, torch.zeros(()))
    last_users_first(module.graph)
    module.recompile()
    return module


def crowded_trace(model: nn.Module) -> tuple[fx.GraphModule]:
    """Call an answer with the traced model after :func:`crowded`."""
    return (crowded(fx.symbolic_trace(model)),)


def last_users_first(graph: fx.Graph) -> None:
    """Register the users of each node in reverse order: after an edit, `users` may be in any order."""
    for node in reversed(graph.nodes):
        node.args, node.kwargs = node.args, node.kwargs


def trace_with_last_users_first(model: nn.Module) -> tuple[fx.GraphModule]:
    """Call an answer with the traced model after :func:`last_users_first`."""
    traced = fx.symbolic_trace(model)
    last_users_first(traced.graph)
    return (traced,)


def _has_effect(module: fx.GraphModule, node: fx.Node) -> bool:
    """Whether a second call would change what other nodes compute: it writes, draws random numbers or counts."""
    called = module.get_submodule(node.target) if node.op == "call_module" else node.target
    name = called if isinstance(called, str) else getattr(called, "__name__", type(called).__name__)
    writes = name.endswith("_") or {"out", "inplace"} & node.kwargs.keys() or getattr(called, "inplace", False)
    draws = "drop" in name.lower() or "rand" in name
    counts = isinstance(called, nn.Module) and any(True for _ in called.buffers())
    return bool(writes or draws or counts) or node.is_impure()


@dataclasses.dataclass
class RowsError(Exception):
    """An error that, as a dataclass, is not hashable and equals any other with the same text."""

    text: str


# Errors with their own attributes or their own way to print a message, that look like a signal, or that are not
# hashable.
ERRORS: tuple[Callable[[], Exception], ...] = (
    lambda: ImportError("no module for these rows"),
    lambda: AttributeError("no rows", name="rows", obj=None),
    lambda: KeyError("rows"),
    lambda: StopIteration("rows"),
    lambda: AssertionError(),
    lambda: RowsError("rows"),
)
