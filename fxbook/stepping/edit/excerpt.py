"""Choose what to draw of a graph that is too large: the nodes that changed, and their neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fxbook.stepping.edit.changes import Changes
from fxbook.stepping.edit.snapshot import Snapshot

LARGEST = 60
"""Rows in a drawing, at most."""


def excerpt(rows: Sequence[int], snapshots: Sequence[Snapshot], changes: Sequence[Changes]) -> frozenset[int] | None:
    """The keys to draw, or ``None`` where there is room for all; ``rows`` has the key of each row of the drawing."""
    if len(rows) <= LARGEST:
        return None
    changed = dict.fromkeys(key for one in changes for key in one.marks)
    # Where nothing changed, the ends of the graph tell most.
    wanted = [*changed, *_neighbours(changed, snapshots)] if changed else [*rows[:6], *rows[-6:]]
    return frozenset(list(dict.fromkeys(wanted))[: LARGEST * 2 // 3])


def _neighbours(keys: Iterable[int], snapshots: Sequence[Snapshot]) -> dict[int, None]:
    """Whoever a node reads, whoever reads it, and who stands beside it in the list, in any snapshot."""
    found: dict[int, None] = {}
    wanted = set(keys)
    for snapshot in snapshots:
        for key in snapshot.keys:
            if key not in wanted:
                continue
            node = snapshot.nodes[key]
            beside = [index for index in (node.index - 1, node.index + 1) if 0 <= index < len(snapshot.keys)]
            # A node that everything reads would fill the drawing with its readers.
            found |= dict.fromkeys(snapshot.keys[index] for index in (*beside, *node.inputs, *node.users[:6]))
    return found


def fold(rows: Sequence[int], wanted: frozenset[int] | None) -> list[int]:
    """For each row its row in the drawing, where a run of rows that are not wanted takes one."""
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
