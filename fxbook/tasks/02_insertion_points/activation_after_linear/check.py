"""Add an activation after every layer of one kind."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from fxbook.cases import Check
from fxbook.graph.naming import callable_name
from fxbook.graph.record import NodeRecord
from fxbook.rules.explained import lints, output_last, recompiled, writes_stay
from fxbook.rules.families import GELU, RELU, TANH
from fxbook.rules.predicates import input_unchanged, no_dead_nodes, same_result, shares_weights
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import Layered

_NEEDS_A_USER = "02_insertion_points#a-new-node-needs-a-user"
_ACTIVATIONS = {torch.relu: RELU, torch.tanh: TANH, nn.functional.gelu: GELU}


class _Activating(TorchFunctionMode):
    """Passes the result of every call to ``function`` through ``activation``; a layer calls its functional form."""

    def __init__(self, function: Callable[..., Any], activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function, self.activation = function, activation

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        return self.activation(result) if function is self.function else result


def activated(model: nn.Module, *inputs: Tensor) -> Any:
    """What the model returns with the required activation after each call to the required layer."""
    assert isinstance(model, Layered)
    _, function, activation = model.task
    with _Activating(function, activation):
        return model(*inputs)


@rule
def followed_by_activation(case: CaseView) -> Found:
    """The required activation follows each call to the required layer, and no other node."""
    assert isinstance(case.model, Layered)
    kind, _, function = case.model.task
    leaves = {node.target for node in case.before if node.op == "call_module"}
    for node in case.nodes:
        if node.op == "call_module" and node.target not in leaves and _is_layer(case, node):
            yield node, f"calls `{node.target}`, which is not a leaf module: tracing should go into it"
    activation, own = _ACTIVATIONS[function], {node.name for node in case.before}
    for node in case.nodes:
        read = next((case.nodes[index] for index in node.inputs), None)
        if node in activation and node.name not in own and read and not _is_layer(case, read):
            yield node, f"follows `{read.name}`, which is not a call to the layer {kind.__name__}"
    for node in filter(functools.partial(_is_layer, case), case.nodes):
        users = [case.nodes[user] for user in node.users]
        if not any(user in activation for user in users):
            yield node, f"Node `{node.name}` ({kind.__name__}) is not followed by {activation.label}."
        is_unused = any(user in activation and not user.users for user in users)
        for user in users:
            if user not in activation:
                bypasses = f"still uses `{node.name}`, bypassing the {activation.label} that follows it"
                yield user, bypasses, _NEEDS_A_USER if is_unused else None


@rule
def unused_layers_too(case: CaseView) -> Found:
    """A call to the layer is kept, and followed by the activation, even if its result is unused."""
    now, before = ([node for node in graph if _is_layer(case, node)] for graph in (case.nodes, case.before))
    gone = before if len(now) < len(before) else []
    for node in [*now, *gone]:
        if not node.users:
            yield node, "has no users, but calls the layer: an activation should follow it, too"


def _is_layer(case: CaseView, node: NodeRecord) -> bool:
    assert isinstance(case.model, Layered)
    kind, function, _ = case.model.task
    if node.op == "call_module":
        return isinstance(dict(case.model.named_modules()).get(node.target), kind)
    return node.op == "call_function" and node.target == callable_name(function)


CHECK = Check(
    (
        lints,
        recompiled,
        output_last,
        same_result.or_because(followed_by_activation, writes_stay),
        no_dead_nodes,
        unused_layers_too,
        input_unchanged,
        shares_weights,
    ),
    expected=activated,
)
