"""Find an order in which parts can be called."""

from __future__ import annotations

from torch import fx

from fxbook.asking import Check
from fxbook.asking.rule import Found, rule
from fxbook.asking.values import Value
from fxbook.asking.view import CaseView


def needs(graph: fx.Graph, parts: dict[str, str]) -> list[tuple[fx.Node, fx.Node]]:
    """Each use across parts: the node that is used, and the one that uses it."""
    return [
        (arg, node)
        for node in graph.nodes
        for arg in node.all_input_nodes
        if node.name in parts and arg.name in parts and parts[node.name] != parts[arg.name]
    ]


def on_cycles(graph: fx.Graph, parts: dict[str, str]) -> set[str]:
    """The parts that are left when those are taken away, one after the other, that need none of the others."""
    left = set(parts.values())
    pairs = {(parts[made.name], parts[user.name]) for made, user in needs(graph, parts)}
    while free := {part for part in left if not any(user == part and made in left for made, user in pairs)}:
        left -= free
    return left


def _listed(value: Value) -> list[str] | None:
    match value:
        case list(items) | {"tuple": list(items)} if all(isinstance(item, str) for item in items):
            return items
    return None


@rule("16_cut_a_graph#parts-that-follow-the-list-change-nothing")
def can_be_called(case: CaseView) -> Found:
    """The answer has each part once, behind those whose values it uses; it is ``None`` where there is no such order."""
    graph, parts = case.arguments
    answer, cycle = case.value, on_cycles(graph, parts)
    if cycle and answer is not None:
        made, user = next((a, b) for a, b in needs(graph, parts) if {parts[a.name], parts[b.name]} <= cycle)
        yield (
            case.before.named(user.name),
            f"in part {parts[user.name]!r} uses `{made.name}` of part {parts[made.name]!r}, these parts are on a "
            "cycle, and the answer is not None",
        )
        return
    if not cycle and answer is None:
        yield None, "The answer is None, and there is an order in which these parts can be called."
        return
    if cycle:
        return
    order = _listed(answer)
    if order is None or sorted(order) != sorted(set(parts.values())):
        yield None, "The answer is not a list that has each part once."
        return
    for made, user in needs(graph, parts):
        if order.index(parts[made.name]) > order.index(parts[user.name]):
            yield (
                case.before.named(user.name),
                f"uses `{made.name}`, whose part {parts[made.name]!r} stands behind part {parts[user.name]!r} in the "
                "answer",
            )


CHECK = Check((can_be_called,))
