"""Name the nodes that call an operator."""

from __future__ import annotations

import torch
from torch import fx

from fxbook.cases import Check
from fxbook.rules.returned import instead_of, names_of, repeated_name
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def calls_of(graph: fx.Graph, operator: object) -> list[str]:
    """The names of the nodes that call the operator, directly or through `auto_functionalized_v2`."""
    through = torch.ops.higher_order.auto_functionalized_v2
    return [node.name for node in graph.nodes if operator is (node.args[0] if node.target is through else node.target)]


@rule
def names_the_calls(case: CaseView) -> Found:
    """The answer contains the names of all nodes that call the operator, and no other name."""
    graph, operator = case.arguments
    answer, expected = names_of(case.value), calls_of(graph, operator)
    if answer is None:
        yield None, instead_of("a list of names", case.value)
        return
    for name in expected:
        if name not in answer:
            yield case.before.named(name), f"calls `{operator}`, but is missing from the answer"
    for name in sorted(answer - set(expected)):
        if (node := case.before.named(name)) is None:
            yield None, f"`{name}` is in the answer, but no node has this name."
        yield node, f"does not call `{operator}`, but is in the answer"
    if twice := repeated_name(case.value):
        yield case.before.named(twice), "is in the answer more than once"


CHECK = Check((names_the_calls,))
