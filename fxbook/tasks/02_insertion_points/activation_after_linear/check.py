"""Add an activation after every layer of a kind."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from fxbook.cases import Check
from fxbook.rules import explained
from fxbook.rules.explained import lints, output_last, recompiled
from fxbook.rules.families import CONV2D, GELU, LINEAR, RELU, TANH
from fxbook.rules.predicates import calls_after, input_unchanged, no_dead_nodes, same_result, shares_weights
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import Layered

# Its module is private, so the drawings and families know it by its bare name.
_ANY_LINEAR = dataclasses.replace(LINEAR, modules=LINEAR.modules | {"NonDynamicallyQuantizableLinear"})
_FAMILY = {nn.Linear: _ANY_LINEAR, nn.Conv2d: CONV2D, torch.relu: RELU, torch.tanh: TANH, nn.functional.gelu: GELU}


class _Activating(TorchFunctionMode):
    """Passes the result of every call of ``function`` through ``activation``; a layer calls its functional form."""

    def __init__(self, function: Callable[..., Any], activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function, self.activation = function, activation

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        return self.activation(result) if function is self.function else result


def activated(model: nn.Module, *inputs: Tensor) -> Any:
    """The model with the activation asked for after each call of the layer asked for."""
    assert isinstance(model, Layered)
    _, function, activation = model.task
    with _Activating(function, activation):
        return model(*inputs)


@rule
def followed_by_activation(case: CaseView) -> Found:
    """Each call of the layer asked for, and nothing else, is followed by the activation asked for."""
    assert isinstance(case.model, Layered)
    kind, _, function = case.model.task
    layer, activation = _FAMILY[kind], _FAMILY[function]
    # None of the models has an activation of its own.
    for node in case.nodes:
        read = next((case.nodes[index] for index in node.inputs), None)
        if node in activation and read and read not in layer:
            yield node, f"follows `{read.name}`, which is no layer of the kind asked"
    yield from calls_after(activation, layer).find(case)


CHECK = Check(
    (
        lints,
        recompiled,
        output_last,
        same_result.or_because(explained.no_dead_nodes, followed_by_activation),
        no_dead_nodes,
        input_unchanged,
        shares_weights,
    ),
    expected=activated,
)
