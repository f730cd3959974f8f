"""Name the values that cross a cut."""

from __future__ import annotations

from torch import fx

from fxbook.cases import Check
from fxbook.rules.returned import instead_of, names_of, repeated_name
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def crossing(graph: fx.Graph, cut: str) -> list[str]:
    """The names of the values that are made before the node and used by it or by a later node."""
    before = {}
    for node in graph.nodes:
        if node.name == cut:
            break
        before[node] = node.op != "get_attr"
    return [node.name for node, counts in before.items() if counts and any(user not in before for user in node.users)]


@rule
def names_what_crosses(case: CaseView) -> Found:
    """The answer contains the names of all values that cross the cut, and no other name."""
    graph, cut = case.arguments
    answer, expected = names_of(case.value), crossing(graph, cut)
    if answer is None:
        yield None, instead_of("a list of names", case.value)
        return
    for name in expected:
        if name not in answer:
            yield (
                case.before.named(name),
                f"comes before `{cut}` and has a user at or after the cut, but is missing from the answer",
            )
    order = [node.name for node in graph.nodes]
    for name in sorted(answer - set(expected), key=lambda name: order.index(name) if name in order else -1):
        if name not in order:
            yield None, f"`{name}` is in the answer, but no node has this name."
            return
        yield case.before.named(name), f"does not cross the cut before `{cut}`, but is in the answer"
    if twice := repeated_name(case.value):
        yield case.before.named(twice), "is in the answer more than once"


CHECK = Check((names_what_crosses,))
