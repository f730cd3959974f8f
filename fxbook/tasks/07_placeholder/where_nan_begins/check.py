"""Find the first node whose value contains nan."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from fxbook.cases import Check
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.rule import Found, rule
from fxbook.rules.trial import Trial
from fxbook.rules.view import CaseView


@rule
def nan_found(case: CaseView) -> Found:
    """The answer is the name of the first node whose value contains nan, or ``None``."""
    traced, *values = case.arguments
    watching = _Watching(traced)
    watching.run(*values)
    expected, answer = next(iter(watching.with_nan), None), case.value
    if isinstance(answer, dict) and "node" in answer:
        yield None, "The answer is a node: return its name."
    elif answer == expected:
        return
    elif answer is None:
        yield None, f"The answer is None, but the value of node `{expected}` contains nan."
    elif answer not in [node.name for node in case.before]:
        # An object's memory address means nothing, and differs each time.
        text = f"{re.sub(' at 0x[0-9a-f]+', '', answer)!r}, which is " if isinstance(answer, str) else ""
        yield None, f"The answer is {text}neither the name of a node nor None."
    elif answer not in watching.with_nan:
        why = ": it is not a tensor" if answer in watching.others else ""
        yield None, f"The answer is `{answer}`, but the value of this node contains no nan{why}."
    else:
        yield None, f"The answer is `{answer}`, but the value of an earlier node, `{expected}`, already contains nan."


class _Watching(fx.Interpreter):
    """Records the nodes whose values contain nan, and those whose values contain no tensor.

    It looks at each value as soon as it is computed, because a later step may overwrite it.
    """

    def __init__(self, traced: fx.GraphModule) -> None:
        super().__init__(traced)
        self.with_nan: list[str] = []
        self.others: list[str] = []

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        tensors = [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
        if any(bool(tensor.isnan().any()) for tensor in tensors):
            self.with_nan.append(n.name)
        elif not tensors:
            self.others.append(n.name)
        return value


def on_error(trial: Trial, kind: str) -> str | None:
    """Explain an error in code that expects a value for each input: inputs with a default may get none."""
    traced, *values = trial.fresh_arguments()
    without = [node.name for node in traced.graph.find_nodes(op="placeholder")][len(values) :]
    if without and kind in {"IndexError", "KeyError", "StopIteration"}:
        return f"In this run the input `{without[0]}` gets no value: it takes its default."
    return None


CHECK = Check((nan_found, input_unchanged), on_error=on_error)
