"""Route the edges that skip rows around the nodes, in lanes on either side.

The edges from one node share a lane, with a branch to each user, so the lanes next to a row show the values that are
alive there. Each lane takes the nearest free position on either side, so a drawing stays narrow.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

from fxbook.graph.record import GraphRecord

Side = Literal["left", "right"]
# A tie goes to the right: on the left, lanes cross the lines to the numbers.
_SIDES: tuple[Side, ...] = ("right", "left")


@dataclasses.dataclass
class Lane:
    """A line on one side of the nodes, from the row ``source`` to the farthest of its readers ``(row, k)``.

    ``place`` is its position, counted from 1, nearest to the nodes.
    """

    source: int
    readers: list[tuple[int, int]]
    side: Side = "right"
    place: int = 0

    @property
    def span(self) -> tuple[int, int]:
        rows = [self.source, *(reader for reader, _ in self.readers)]
        return min(rows), max(rows)

    @property
    def falls(self) -> bool:
        return all(reader > self.source for reader, _ in self.readers)


def find_lanes(record: GraphRecord) -> tuple[list[tuple[int, int, int]], list[Lane]]:
    """Edges between adjacent rows, drawn straight, as (source, reader, k); and the lanes of all other edges, placed."""
    straight, trunks, odd = [], {}, {}
    for node in record:
        for k, source in enumerate(node.inputs):
            if abs(node.index - source) == 1:
                straight.append((source, node.index, k))
            elif source < node.index:
                trunks.setdefault(source, Lane(source, [])).readers.append((node.index, k))
            else:
                odd.setdefault((source, node.index), Lane(source, [])).readers.append((node.index, k))
    lanes = [*trunks.values(), *odd.values()]
    _pack(lanes)
    return straight, lanes


def _pack(lanes: list[Lane]) -> None:
    """Give each lane a side and a position, so that no two overlap.

    When lanes are sorted by where they end, two of them overlap if and only if the first ends below the start of the
    second, so only the last lane in each position matters.
    """
    last: dict[Side, list[Lane]] = {side: [] for side in _SIDES}
    for lane in sorted(lanes, key=lambda lane: (lane.span[1], -lane.span[0])):
        free = {side: _first_free(lane, last[side]) for side in _SIDES}
        lane.side = min(_SIDES, key=lambda side: free[side])
        lane.place = free[lane.side] + 1
        last[lane.side][free[lane.side] : lane.place] = [lane]


def _first_free(lane: Lane, last: list[Lane]) -> int:
    start = lane.span[0]
    for place, other in enumerate(last):
        end = other.span[1]
        # Edges leave a node below the height at which others enter it, so two downward lanes may meet at a node.
        if end < start or (end == start and other.falls and lane.falls):
            return place
    return len(last)
