"""Where a run of chapter 08 fails: found out by running it, and compared with what an answer tells."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx

from fxbook.asking.rule import Violation
from fxbook.asking.values import Value, difference, encode
from fxbook.asking.view import CaseView
from fxbook.checks.properties_08 import name_of


class _Noting(fx.Interpreter):
    """Knows which node it runs, and the shapes of the tensors that this one reads."""

    reached: tuple[str, list[tuple[int, ...]]]

    def run_node(self, n: fx.Node) -> Any:
        read = [self.env[node] for node in n.all_input_nodes]
        self.reached = n.name, [tuple(value.shape) for value in read if isinstance(value, Tensor)]
        return super().run_node(n)


def failure_of(traced: fx.GraphModule, tensors: list[Tensor]) -> tuple[str, list[tuple[int, ...]]] | None:
    """The name of the node that fails on these inputs and the shapes that it reads; ``None`` where none fails."""
    noting = _Noting(traced)
    noting.extra_traceback = False
    try:
        with torch.no_grad():
            noting.run(*tensors)
    except Exception:
        return noting.reached
    return None


def tells_failure(case: CaseView) -> Violation | None:
    """The answer is the name of the node that fails and the shapes that it reads, or ``None`` where none does."""
    asked, found = encode(failure_of(*case.arguments)), case.value
    if asked is None:
        return Violation("The model runs without an error, but the answer is not None.") if found is not None else None
    if found is None:
        return Violation("The answer is None, but the model does not run to its end.")
    parts = found.get("tuple") if isinstance(found, dict) else found
    if not isinstance(parts, list) or len(parts) != 2:
        return Violation("The answer is not a pair: the name of a node, and a list of shapes.")
    name, shapes = asked["tuple"]
    told = name_of(parts[0])
    if told is None or case.before.named(told) is None:
        return Violation(f"`{told}`, the first part of the answer, is no name of a node.")
    if told != name:
        return Violation(f"The answer names node `{told}`: another one raised the error.")
    return _shapes(name, parts[1], shapes)


def _shapes(name: str, found: Value, asked: list[Value]) -> Violation | None:
    if isinstance(found, dict) and "tuple" in found:
        found = found["tuple"]
    if not isinstance(found, list):
        return Violation(f"Node `{name}` is right, but its shapes are not in a list.")
    if len(found) != len(asked):
        said = f"{len(asked)} tensor{'' if len(asked) == 1 else 's'}"
        return Violation(f"Node `{name}` is right and reads {said}, but the answer has {len(found)} for its shapes.")
    for place, (one, right) in enumerate(zip(found, asked, strict=True)):
        if difference(one, right):
            return Violation(f"Node `{name}` is right, but shape {place + 1} of {len(asked)} is not what it read.")
    return None
