"""Choose which part of a large graph to draw: the nodes that changed, and their neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fxbook.stepping.edit.changes import Changes
from fxbook.stepping.edit.snapshot import Snapshot

LARGEST = 60
"""The maximum number of rows in a drawing."""


def excerpt(rows: Sequence[int], snapshots: Sequence[Snapshot], changes: Sequence[Changes]) -> frozenset[int] | None:
    """The keys to draw, or ``None`` if there is room for all; ``rows`` holds the key of each row of the drawing."""
    if len(rows) <= LARGEST:
        return None
    changed = dict.fromkeys(key for one in changes for key in one.marks)
    # If nothing changed, the ends of the graph are the most informative.
    wanted = [*changed, *_neighbours(changed, snapshots)] if changed else [*rows[:6], *rows[-6:]]
    return frozenset(list(dict.fromkeys(wanted))[: LARGEST * 2 // 3])


def _neighbours(keys: Iterable[int], snapshots: Sequence[Snapshot]) -> dict[int, None]:
    """The inputs and users of these nodes, and those next to them in the list, in any snapshot."""
    found: dict[int, None] = {}
    wanted = set(keys)
    for snapshot in snapshots:
        for key in snapshot.keys:
            if key not in wanted:
                continue
            node = snapshot.nodes[key]
            beside = [index for index in (node.index - 1, node.index + 1) if 0 <= index < len(snapshot.keys)]
            # A node with many users would fill the drawing with them.
            found |= dict.fromkeys(snapshot.keys[index] for index in (*beside, *node.inputs, *node.users[:6]))
    return found


def fold(rows: Sequence[int], wanted: frozenset[int] | None) -> list[int]:
    places: list[int] = []
    count = 0
    folding = False
    for key in rows:
        skip = wanted is not None and key not in wanted
        if not (skip and folding):
            count += 1
        places.append(count - 1)
        folding = skip
    return places
