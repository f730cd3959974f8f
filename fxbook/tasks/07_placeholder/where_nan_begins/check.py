"""Where nan begins."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from fxbook.cases import Check
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


@rule
def nan_found(case: CaseView) -> Found:
    """The answer is the name of the first node whose value holds nan, or ``None``."""
    traced, *values = case.arguments
    watching = _Watching(traced)
    watching.run(*values)
    wanted, answer = next(iter(watching.holding), None), case.value
    if isinstance(answer, dict) and "node" in answer:
        yield None, "The answer is a node: return its name."
    elif answer == wanted:
        return
    elif answer is None:
        yield None, f"The answer is None, but the value of node `{wanted}` holds nan."
    elif answer not in [node.name for node in case.before]:
        # An object's memory address means nothing, and differs each time.
        told = f"{re.sub(' at 0x[0-9a-f]+', '', answer)!r}, which is " if isinstance(answer, str) else ""
        yield None, f"The answer is {told}neither the name of a node nor None."
    elif answer not in watching.holding:
        known = ": it is not a tensor" if answer in watching.others else ""
        yield None, f"The answer is `{answer}`, but the value of this node holds no nan{known}."
    else:
        yield None, f"The answer is `{answer}`, but the value of `{wanted}`, an earlier node, holds nan already."


class _Watching(fx.Interpreter):
    """Looks at each value when it is made: a later step may overwrite it."""

    def __init__(self, traced: fx.GraphModule) -> None:
        super().__init__(traced)
        self.holding: list[str] = []
        self.others: list[str] = []

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        tensors = [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
        if any(bool(tensor.isnan().any()) for tensor in tensors):
            self.holding.append(n.name)
        elif not tensors:
            self.others.append(n.name)
        return value


CHECK = Check((nan_found, input_unchanged))
