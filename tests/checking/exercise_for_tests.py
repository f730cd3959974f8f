"""A small exercise with a right answer for the tests of the checker, independent of the book's exercises."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Check, Exercise, Usage
from fxbook.cases.exercise import Use
from fxbook.cases.values import difference, encode
from fxbook.rules.families import RELU
from fxbook.rules.predicates import calls, edited, lints, no_dead_nodes, recompiled, same_result
from fxbook.rules.rule import Found, Rule, configurable
from fxbook.rules.view import CaseView


class Stack(nn.Module):
    """Consecutive linear layers."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def with_relu(model: Any, x: Tensor) -> Tensor:
    """Compute the stack with relu after each layer."""
    for layer in model.layers:
        x = torch.relu(layer(x))
    return x


SHALLOW = Case("two layers", lambda: Stack(4, 2), lambda: (torch.randn(3, 4),))
DEEP = Case("five layers", lambda: Stack(6, 5), lambda: (torch.randn(2, 6),), unseen=True)
RELU_AFTER_LINEAR = Exercise(
    "99-relu-after-linear",
    Usage("edit", (SHALLOW, DEEP)),
    Check(
        (lints, recompiled, same_result.or_because(calls(RELU)), no_dead_nodes, edited),
        expected=with_relu,
    ),
)


def an_exercise(identity: str, use: Use, cases: Iterable[Case], rules: Iterable[Rule], **usage: Any) -> Exercise:
    """An exercise whose expected result is that of the unchanged model."""
    return Exercise(identity, Usage(use, tuple(cases), **usage), Check(tuple(rules)))


def changed(exercise: Exercise, **fields: Any) -> Exercise:
    """The exercise with other fields of its usage or check."""
    usage = {name: fields.pop(name) for name in list(fields) if hasattr(exercise.usage, name)}
    check = dataclasses.replace(exercise.check, **fields)
    return dataclasses.replace(exercise, usage=dataclasses.replace(exercise.usage, **usage), check=check)


@configurable
def value_is(case: CaseView, expected: Callable[..., Any]) -> Found:
    """A ``compute`` answer returns what ``expected`` returns for fresh copies of the arguments."""
    if differs := difference(case.value, encode(expected(*case.arguments))):
        yield None, f"The answer is not the one asked for: {differs}."


def right(module: fx.GraphModule) -> None:
    for node in list(module.graph.nodes):
        if node.op == "call_module":
            with module.graph.inserting_after(node):
                relu = module.graph.call_function(torch.relu, (node,))
            node.replace_all_uses_with(relu, delete_user_cb=lambda user, relu=relu: user is not relu)
    module.recompile()
