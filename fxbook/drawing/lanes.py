"""Lead the edges that skip rows around the nodes, in lanes beside them.

The edges from one node share a lane, with a branch to each reader, so the lanes beside a row are the values alive
there. Graphviz routes them: it decides on which side each goes and which lies outside which.
"""

from __future__ import annotations

import dataclasses
import itertools
import sysconfig
from pathlib import Path
from typing import Literal

import graphviz
import graphviz.backend.dot_command

from fxbook.graph.record import GraphRecord

# graphviz-pure installs a command beside the interpreter, on no search path unless the environment is activated.
graphviz.backend.dot_command.DOT_BINARY = Path(sysconfig.get_path("scripts")) / "graphviz-pure"

Side = Literal["left", "right"]


@dataclasses.dataclass
class Lane:
    """What runs beside the nodes from the row ``source`` to the farthest of its readers ``(row, k)``, on one side.

    ``place`` counts from 1, nearest to the nodes; ``distance`` is graphviz's, good for the order only.
    """

    source: int
    readers: list[tuple[int, int]]
    side: Side = "right"
    distance: float = 0.0
    place: int = 0

    @property
    def span(self) -> tuple[int, int]:
        rows = [self.source, *(reader for reader, _ in self.readers)]
        return min(rows), max(rows)

    @property
    def falls(self) -> bool:
        return all(reader > self.source for reader, _ in self.readers)


def find_lanes(record: GraphRecord) -> tuple[list[tuple[int, int, int]], list[Lane]]:
    """Edges between neighbours, drawn straight, as (source, reader, k); and the placed lanes of the others."""
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
    _route(lanes, len(record))
    _pack(lanes)
    return straight, lanes


def _route(lanes: list[Lane], rows: int) -> None:
    """Let graphviz route one edge per lane around a column of boxes; keep its side and its distance from the middle."""
    routed = [lane for lane in lanes if lane.span[0] != lane.span[1]]
    if not routed:
        return
    dot = graphviz.Digraph(engine="neato", graph_attr={"splines": "ortho"})
    dot.attr("node", shape="box", fixedsize="true", width="3", height="0.5", label="")
    for row in range(rows):
        dot.node(str(row), pos=f"0,{-60 * row}")
    for lane in routed:
        start, end = lane.span
        dot.edge(str(start), str(end))
    paths: dict[tuple[int, int], list[float]] = {}
    try:
        plain = dot.pipe(format="plain", encoding="utf-8", neato_no_op=2)
    except graphviz.ExecutableNotFound:
        raise RuntimeError(
            "drawing needs the command graphviz-pure, which is not beside this Python: pip install -r requirements.txt"
        ) from None
    for line in plain.splitlines():
        match line.split():
            case ["node", name, x, *_] if name == "0":
                middle = float(x)
            case ["edge", tail, head, count, *numbers]:
                paths[int(tail), int(head)] = [float(number) for number in numbers[: 2 * int(count)]]
    for lane in routed:
        numbers = paths[lane.span]
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        _, x = max((abs(b[1] - a[1]), a[0]) for a, b in itertools.pairwise(points))
        lane.side, lane.distance = ("left" if x < middle else "right"), abs(x - middle)


def _pack(lanes: list[Lane]) -> None:
    """Give lanes their place, 1 nearest to the nodes, in graphviz's order, none beside another at the same place."""
    for side in ("left", "right"):
        placed: list[Lane] = []
        for lane in sorted((lane for lane in lanes if lane.side == side), key=lambda lane: (lane.distance, lane.span)):
            start, end = lane.span
            beside = (other.place for other in placed if other.span[0] < end and start < other.span[1])
            touching = (
                other.place
                for other in placed
                if (other.span[0] == end or start == other.span[1]) and not (other.falls and lane.falls)
            )
            lane.place = 1 + max([*beside, *touching], default=0)
            placed.append(lane)
