"""Name the node that failed, and the shapes that it read."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx

from fxbook.cases import Check
from fxbook.cases.values import Value, difference, encode
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import name_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


class _Noting(fx.Interpreter):
    """Records which node it runs, and the tensors that the node reads: the name and the shape of each."""

    reached: tuple[str, list[tuple[str, tuple[int, ...]]]]

    def run_node(self, n: fx.Node) -> Any:
        values = [(node.name, self.env[node]) for node in n.all_input_nodes]
        self.reached = n.name, [(name, tuple(value.shape)) for name, value in values if isinstance(value, Tensor)]
        return super().run_node(n)


def failure_of(traced: fx.GraphModule, tensors: list[Tensor]) -> tuple[str, list[tuple[str, tuple[int, ...]]]] | None:
    """The node that fails on these inputs, and name and shape of each tensor that it reads; ``None`` if none fails."""
    noting = _Noting(traced)
    noting.extra_traceback = False
    try:
        with torch.no_grad():
            noting.run(*tensors)
    except Exception:
        return noting.reached
    return None


@rule
def tells_failure(case: CaseView) -> Found:
    """The answer is the name of the node that fails and the shapes that it reads, or ``None`` where none does."""
    failure, answer = failure_of(*case.arguments), case.value
    if failure is None:
        if answer is not None:
            yield None, "The model runs without an error, but the answer is not None."
        return
    if answer is None:
        yield None, "The answer is None, but the model does not run to its end."
        return
    match answer:
        case [named, shapes] | {"tuple": [named, shapes]}:
            name = name_of(named)
            told, failed = name and case.before.named(name), case.before.named(failure[0])
            if not told or not failed:
                yield None, f"`{name}`, the first part of the answer, is not the name of a node."
                return
            if told.index < failed.index:
                yield None, f"The answer names node `{name}`, which ran without an error: a later one raised it."
            if told.index > failed.index:
                yield None, f"The answer names node `{name}`, which never ran: an earlier one raised the error."
            yield from _wrong_shapes(shapes, *failure)
        case _:
            yield None, "The answer is not a pair: the name of a node, and a list of shapes."


def _wrong_shapes(answer: Value, name: str, asked: list[tuple[str, tuple[int, ...]]]) -> Found:
    shapes = answer["tuple"] if isinstance(answer, dict) and "tuple" in answer else answer
    if not isinstance(shapes, list):
        yield None, f"Node `{name}` is right, but its shapes are not in a list."
        return
    if len(shapes) != len(asked):
        uses = f"{len(asked)} tensor{'' if len(asked) == 1 else 's'}"
        has = f"{len(shapes)} shape{'' if len(shapes) == 1 else 's'}"
        yield None, f"Node `{name}` is right and uses {uses}, but the answer has {has}."
        return
    for place, (shape, (read, right)) in enumerate(zip(shapes, asked, strict=True)):
        if difference(shape, encode(right)):
            yield None, f"Node `{name}` is right, but shape {place + 1} of {len(asked)} is not that of `{read}`."


CHECK = Check((tells_failure, input_unchanged))
