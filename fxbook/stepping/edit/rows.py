"""Give every node one row for all frames: a node that keeps its order keeps its row; a moved one gets a second."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence


@dataclasses.dataclass(eq=False)
class _Slot:
    """A row; the rows form a linked list, so that inserting a row is cheap in a large graph."""

    key: int
    at: int = 0
    below: _Slot | None = None


def union_rows(
    orders: Sequence[Sequence[int]], reluctance: Callable[[int, int], float] = lambda frame, key: 1.0
) -> tuple[list[int], list[dict[int, int]], list[set[int]]]:
    """Merge the lists of all frames into one column of rows.

    Args:
        orders: for each frame, the keys of its nodes in list order.
        reluctance: gives a number for a frame and a key: of two nodes that swapped order, the one with the smaller
            number counts as moved.

    Returns:
        The key of each row; for each frame, the row of each of its keys; for each frame, the keys that were moved since
        the previous frame.
    """
    top = _Slot(-1)
    current: dict[int, _Slot] = {}
    earlier: dict[int, list[_Slot]] = {}
    placed: list[dict[int, _Slot]] = []
    moved: list[set[int]] = []
    for frame, order in enumerate(orders):
        for at, slot in enumerate(_chain(top.below)):
            slot.at = at
        common = [key for key in order if key in current]
        weights = [reluctance(frame, key) for key in common]
        stay = {common[i] for i in heaviest_rising([current[key].at for key in common], weights)}
        now: dict[int, _Slot] = {}
        previous = top
        following = _next_kept(order, stay)
        for key, limit in zip(order, following, strict=True):
            if key in stay:
                now[key] = current[key]
            else:
                between = _chain(previous.below, current[limit] if limit is not None else None)
                slot = next((slot for slot in between if slot in earlier[key]), None) if key in earlier else None
                if slot is None:
                    slot = previous.below = _Slot(key, below=previous.below)
                    earlier.setdefault(key, []).append(slot)
                now[key] = slot
            previous = now[key]
        moved.append(set(common) - stay)
        placed.append(now)
        current = now
    slots = list(_chain(top.below))
    index = {slot: at for at, slot in enumerate(slots)}
    return [slot.key for slot in slots], [{key: index[slot] for key, slot in now.items()} for now in placed], moved


def _chain(slot: _Slot | None, stop: _Slot | None = None) -> Iterator[_Slot]:
    while slot is not None and slot is not stop:
        yield slot
        slot = slot.below


def _next_kept(order: Sequence[int], stay: set[int]) -> list[int | None]:
    """For each position, the next key whose row stays."""
    found: list[int | None] = []
    latest = None
    for key in reversed(order):
        found.append(latest)
        latest = key if key in stay else latest
    return found[::-1]


def heaviest_rising(values: Sequence[int], weights: Sequence[float]) -> list[int]:
    """The positions of the increasing subsequence of greatest weight; ``values`` are distinct. O(n log n)."""
    rank = {value: at for at, value in enumerate(sorted(values), 1)}
    # A Fenwick tree of maxima holds the best (weight, position) that ends at or below a rank.
    tree: list[tuple[float, int]] = [(0.0, -1)] * (len(values) + 1)
    came_from: list[int] = []
    best = (0.0, -1)
    for position, value in enumerate(values):
        at, reached = rank[value] - 1, (0.0, -1)
        while at > 0:
            reached = max(reached, tree[at])
            at -= at & -at
        came_from.append(reached[1])
        mine = (reached[0] + weights[position], position)
        best = max(best, mine)
        at = rank[value]
        while at < len(tree):
            tree[at] = max(tree[at], mine)
            at += at & -at
    chosen, position = [], best[1]
    while position >= 0:
        chosen.append(position)
        position = came_from[position]
    return chosen[::-1]
