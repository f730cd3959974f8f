"""Name the nodes that call an operator."""

from __future__ import annotations

from torch import fx

from fxbook.cases import Check
from fxbook.rules.returned import names_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def calls_of(graph: fx.Graph, operator: object) -> list[str]:
    """The names of the nodes that call the operator, directly or as the first argument of a higher-order operator."""
    return [node.name for node in graph.nodes if operator in (node.target, *node.args[:1])]


@rule
def names_the_calls(case: CaseView) -> Found:
    """The answer has the name of each node that calls the operator, and no other."""
    graph, operator = case.arguments
    answer, right = names_of(case.value), calls_of(graph, operator)
    if answer is None:
        yield None, "The answer is not a list of names."
        return
    for name in right:
        if name not in answer:
            yield case.before.named(name), f"calls `{operator}`, and the answer lacks it"
    for name in sorted(answer - set(right)):
        yield case.before.named(name), f"does not call `{operator}`, and the answer has it"


CHECK = Check((names_the_calls,))
