"""Find an order in which parts can be called."""

from __future__ import annotations

from torch import fx

from fxbook.cases import Check
from fxbook.cases.values import Value
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def needs(graph: fx.Graph, parts: dict[str, str]) -> list[tuple[fx.Node, fx.Node]]:
    """Each use across parts: the node that is used, and the node that uses it."""
    return [
        (arg, node)
        for node in graph.nodes
        for arg in node.all_input_nodes
        if node.name in parts and arg.name in parts and parts[node.name] != parts[arg.name]
    ]


def on_cycles(graph: fx.Graph, parts: dict[str, str]) -> set[str]:
    """The parts that remain after repeatedly removing the parts that need no remaining part."""
    left = set(parts.values())
    pairs = {(parts[made.name], parts[user.name]) for made, user in needs(graph, parts)}
    while free := {part for part in left if not any(user == part and made in left for made, user in pairs)}:
        left -= free
    return left


def _described(parts: dict[str, str]) -> str:
    """The parts and the first nodes of each, for a report."""
    members: dict[str, list[str]] = {}
    for name, part in parts.items():
        members.setdefault(part, []).append(name)
    first = [f"{part!r} has {', '.join(names[:4])}{', …' * (len(names) > 4)}" for part, names in members.items()]
    return "; ".join(first)


def _listed(value: Value) -> list[str] | None:
    match value:
        case list(items) | {"tuple": list(items)} if all(isinstance(item, str) for item in items):
            return items
    return None


def _is_broken(order: list[str], made: str, user: str) -> bool:
    """Whether the order has both parts, but has ``made``, which ``user`` uses, after ``user``."""
    return made in order and user in order and order.index(made) > order.index(user)


@rule
def can_be_called(case: CaseView) -> Found:
    """The answer has each part once, after the parts whose values it uses; ``None`` if there is no such order."""
    graph, parts = case.arguments
    answer, cycle = case.value, on_cycles(graph, parts)
    if cycle and answer is not None:
        order = _listed(answer) or []
        on_it = [(a, b) for a, b in needs(graph, parts) if {parts[a.name], parts[b.name]} <= cycle]
        # Preferably report a use that the order in the answer breaks.
        made, user = next(((a, b) for a, b in on_it if _is_broken(order, parts[a.name], parts[b.name])), on_it[0])
        yield (
            case.before.named(user.name),
            f"in part {parts[user.name]!r} uses `{made.name}` from part {parts[made.name]!r}, and these parts are on a "
            "cycle, so the answer should be `None`",
        )
        return
    if not parts and answer is None:
        yield None, "The answer is None, but `parts` is empty, so it should be an empty list."
        return
    if not cycle and answer is None:
        yield None, f"The answer is None, but these parts can be called in some order: {_described(parts)}."
        return
    if cycle:
        return
    order = _listed(answer)
    if order is None or sorted(order) != sorted(set(parts.values())):
        yield None, f"The answer is not a list that has each part once: {_described(parts)}."
        return
    for made, user in needs(graph, parts):
        if _is_broken(order, parts[made.name], parts[user.name]):
            yield (
                case.before.named(user.name),
                f"uses `{made.name}`, whose part {parts[made.name]!r} comes after part {parts[user.name]!r} in the "
                "answer",
            )


CHECK = Check((can_be_called,))
