"""Cut the nodes around one node out of a graph, as a record that can be drawn."""

from __future__ import annotations

import dataclasses
from typing import Any

from fxbook.graph.record import GraphRecord

HUB = 12
"""From a node with more users (a mask, a weight), edges are not followed from one user to the others."""


def part_around(record: GraphRecord, index: int, reach: int) -> tuple[GraphRecord, list[int]]:
    """The nodes at most ``reach`` edges from one node, in either direction, and their numbers in the graph's list."""
    found, edge = {index}, {index}
    for _ in range(reach):
        beside: set[int] = set()
        for node in (record.nodes[at] for at in edge):
            users = node.users if len(node.users) <= HUB or node.index == index else ()
            beside |= {*node.inputs, *users}
        edge = beside - found
        found |= edge
    numbers = sorted(found)
    place = {number: at for at, number in enumerate(numbers)}
    nodes = [
        dataclasses.replace(
            node,
            index=place[node.index],
            args=_with_places(node.args, place),
            kwargs=_with_places(node.kwargs, place),
            inputs=tuple(place[at] for at in node.inputs if at in place),
            users=tuple(place[at] for at in node.users if at in place),
        )
        for node in (record.nodes[number] for number in numbers)
    ]
    return dataclasses.replace(record, nodes=tuple(nodes)), numbers


def _with_places(value: Any, place: dict[int, int]) -> Any:
    """The arguments, where nodes outside the part are treated as foreign."""
    match value:
        case {"node": int(index)}:
            return {"node": place[index]} if index in place else {"foreign": str(index)}
        case dict():
            return {key: _with_places(item, place) for key, item in value.items()}
        case list():
            return [_with_places(item, place) for item in value]
    return value
