"""A small exercise for the tests of the checker, with a right answer; independent of the exercises of the book."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.asking import Case, Exercise
from fxbook.asking.families import LINEAR, RELU
from fxbook.asking.predicates import calls_after, edited, lints, no_dead_nodes, recompiled, same_result
from fxbook.asking.rule import Found, configurable
from fxbook.asking.values import difference, encode
from fxbook.asking.view import CaseView


class Stack(nn.Module):
    """Linear layers, one behind the other."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def with_relu(model: Any, x: Tensor) -> Tensor:
    """The stack with relu after each layer."""
    for layer in model.layers:
        x = torch.relu(layer(x))
    return x


SHALLOW = Case("two layers", lambda: Stack(4, 2), lambda: (torch.randn(3, 4),))
DEEP = Case("five layers", lambda: Stack(6, 5), lambda: (torch.randn(2, 6),), unseen=True)
RELU_AFTER_LINEAR = Exercise(
    id="99-relu-after-linear",
    use="edit",
    cases=(SHALLOW, DEEP),
    expected=with_relu,
    rules=(lints, recompiled, same_result.or_because(calls_after(RELU, LINEAR)), no_dead_nodes, edited),
)


@configurable
def value_is(case: CaseView, expected: Callable[..., Any]) -> Found:
    """A ``compute`` answer returns what ``expected`` returns, called with the same arguments (made anew)."""
    if differs := difference(case.value, encode(expected(*case.arguments))):
        yield None, f"The answer is not the one asked for: {differs}."


def right(module: fx.GraphModule) -> None:
    """Relu after each linear layer."""
    for node in list(module.graph.nodes):
        if node.op == "call_module":
            with module.graph.inserting_after(node):
                relu = module.graph.call_function(torch.relu, (node,))
            node.replace_all_uses_with(relu, delete_user_cb=lambda user, relu=relu: user is not relu)
    module.recompile()
