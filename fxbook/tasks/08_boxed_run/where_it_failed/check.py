"""Name the node that failed and the shapes of the tensors that it uses."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx

from fxbook.cases import Check
from fxbook.cases.values import Value, difference, encode
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import instead_of, name_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

# The name and shape of each tensor that a node uses.
Shapes = list[tuple[str, tuple[int, ...]]]


class _Noting(fx.Interpreter):
    """Records the node that it runs, and the name and shape of each tensor that the node uses."""

    reached: tuple[str, Shapes]

    def run_node(self, n: fx.Node) -> Any:
        values = [(node.name, self.env[node]) for node in n.all_input_nodes]
        self.reached = n.name, [(name, tuple(value.shape)) for name, value in values if isinstance(value, Tensor)]
        return super().run_node(n)


def failure_of(traced: fx.GraphModule, tensors: list[Tensor]) -> tuple[str, Shapes] | None:
    """The node that fails on these inputs, with the name and shape of each tensor that it uses, or ``None``."""
    noting = _Noting(traced)
    noting.extra_traceback = False
    try:
        with torch.no_grad():
            noting.run(*tensors)
    except Exception:
        return noting.reached
    return None


@rule
def failure_named(case: CaseView) -> Found:
    """The answer is the failing node's name and the shapes that it uses, or ``None`` if no node fails."""
    failure, answer = failure_of(*case.arguments), case.value
    if failure is None:
        if answer is not None:
            yield None, "The model runs without an error, but the answer is not None."
        return
    if answer is None:
        yield None, "The answer is None, but running the model raises an error."
        return
    match answer:
        case [named, shapes] | {"tuple": [named, shapes]}:
            name = name_of(named)
            if name is None:
                yield None, instead_of("a pair that begins with a name", named)
                return
            node, failed = name and case.before.named(name), case.before.named(failure[0])
            if not node or not failed:
                yield None, f"`{name}`, the first part of the answer, is not the name of a node."
                return
            if node.index < failed.index:
                yield None, f"The answer names node `{name}`, which ran without an error: a later node failed."
            if node.index > failed.index:
                yield None, f"The answer names node `{name}`, which never ran: an earlier node failed."
            yield from _wrong_shapes(shapes, *failure)
        case _:
            yield None, "The answer is not a pair: the name of a node, and a list of shapes."


def _wrong_shapes(answer: Value, name: str, expected: Shapes) -> Found:
    shapes = answer["tuple"] if isinstance(answer, dict) and "tuple" in answer else answer
    if not isinstance(shapes, list):
        yield None, f"The node, `{name}`, is right, but the shapes are not in a list."
        return
    if len(shapes) != len(expected):
        uses = f"{len(expected)} tensor{'' if len(expected) == 1 else 's'}"
        yield None, f"The node, `{name}`, is right and uses {uses}, but the list of shapes has length {len(shapes)}."
        return
    for place, (shape, (used, right)) in enumerate(zip(shapes, expected, strict=True)):
        if difference(shape, encode(right)):
            yield None, f"The node, `{name}`, is right, but item {place} is not the shape of `{used}`: {right}."


CHECK = Check((failure_named, input_unchanged))
