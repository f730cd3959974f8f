"""Count the new nodes that each node of a graph became in a retrace."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import torch
from torch import fx
from torch._decomp import get_decompositions
from torch.fx.experimental.proxy_tensor import make_fx

from fxbook.cases import Check
from fxbook.rules.returned import instead_of, number_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def became(traced: fx.GraphModule, x: torch.Tensor, operators: list[Any]) -> dict[str, int]:
    """For each node that calls something, the number of nodes that it becomes in the retrace."""
    copied = copy.deepcopy(traced)
    for node in copied.graph.nodes:
        node.meta["custom"] = {"from": node.name}
    with fx.traceback.preserve_node_meta():
        lowered = make_fx(fx.Interpreter(copied).run, decomposition_table=get_decompositions(operators))(x)
    counts = Counter(
        node.meta["custom"]["from"]
        for node in lowered.graph.nodes
        if node.op == "call_function" and "custom" in node.meta
    )
    return {node.name: counts[node.name] for node in traced.graph.nodes if node.op.startswith("call")}


@rule
def counted(case: CaseView) -> Found:
    """The answer maps each node that calls something to the number of nodes that it became."""
    table, expected = table_of(case.value), became(*case.arguments)
    if table is None:
        yield None, instead_of("a dict with node names as keys", case.value)
        return
    for name, number in expected.items():
        node = case.before.named(name)
        if name not in table:
            yield node, "is missing from the answer: it became no node" if number == 0 else "is missing from the answer"
            return
        answer = number_of(table[name])
        if answer is None:
            yield None, f"The value for `{name}` is not a number."
        elif answer != number:
            yield node, f"became {number or 'no'} node{'s' * (number != 1)}; your answer is {answer:g}"
    for name in table:
        if name not in expected:
            yield None, f"`{name}` is in the answer, but it is not a node of `traced` that calls something."


CHECK = Check((counted,))
