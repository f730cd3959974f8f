"""Draw a graph as an animation, with one layout for all frames."""

from __future__ import annotations

import dataclasses
import functools
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Mapping, Sequence

from fxbook.drawing.boxes import Box, brief_lettering, letter
from fxbook.drawing.display import words_for
from fxbook.drawing.layout import Layout, Wire, argument_places, place_looks
from fxbook.drawing.paint import paint_line, paint_node, paint_number, paint_tick, paint_wire, state_classes
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.stepping.animation import Animation

Edge = tuple[int, int, str]
"""The row of the input, the row of its user, the label at the arrow."""
_ARROW_ROOM, _GHOST_HEIGHT = 20, 44


@dataclasses.dataclass(frozen=True)
class Seen:
    """A node in one frame.

    ``key`` is its identity in all frames, ``number`` its position in the list, or ``""`` if it is not in the list;
    ``words`` are further lines on the node, and ``classes`` change its appearance.
    """

    node: NodeRecord
    key: int
    number: str
    words: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()

    @property
    def look(self) -> tuple:
        """A key that is equal for nodes that are drawn alike; the number is not part of it, since it is on the rail."""
        node = self.node
        return node.op, node.name, self.words, self.classes


@dataclasses.dataclass(frozen=True)
class GraphFrame:
    """The content of one frame: nodes by row, edges with their classes, and moves from row to row.

    A row belongs to one node, in every frame of an animation.
    """

    seen: dict[int, Seen]
    edges: dict[Edge, tuple[str, ...]]
    moves: tuple[tuple[int, int], ...] = ()


def still(
    record: GraphRecord,
    words: Mapping[int, Sequence[str]] | None = None,
    classes: Mapping[int, Sequence[str]] | None = None,
    edge_classes: Mapping[tuple[int, int], Sequence[str]] | None = None,
) -> GraphFrame:
    """The frame for a whole record: rows and keys are indices; notes and faults are written on the nodes.

    ``words`` and ``classes`` are given by index, ``edge_classes`` by the indices of the input and its user.
    """
    words, classes, edge_classes = words or {}, classes or {}, edge_classes or {}
    seen = {}
    edges: dict[Edge, tuple[str, ...]] = {}
    for node in record:
        own = (*words_for(node.notes, node.faults, ()), *words.get(node.index, ()))
        looks = (*state_classes(node), *classes.get(node.index, ()))
        seen[node.index] = Seen(node, node.index, str(node.index), own, looks)
        for source, label in inputs_of(node):
            edges[source, node.index, label] = tuple(edge_classes.get((source, node.index), ()))
    return GraphFrame(seen, edges)


def inputs_of(node: NodeRecord) -> list[tuple[int, str]]:
    """The inputs of a node, with the label of each arrow: the position among the arguments if there are several."""
    labels = argument_places(node) if len(node.inputs) > 1 else [""] * len(node.inputs)
    return list(zip(node.inputs, labels, strict=True))


def animation_of(graph_frames: Sequence[GraphFrame], label: str) -> Animation:
    """The frames as one drawing. Rows keep their order; in a frame where a row is not used, it takes up no room."""
    rows = 1 + max((row for graph_frame in graph_frames for row in graph_frame.seen), default=-1)
    edges = sorted(
        {edge for graph_frame in graph_frames for edge in graph_frame.edges},
        key=lambda edge: (edge[1], edge[2], edge[0]),
    )
    looks: list[dict[tuple, tuple[Seen, list[int]]]] = [{} for _ in range(rows)]
    for frame, graph_frame in enumerate(graph_frames):
        for row, seen in graph_frame.seen.items():
            looks[row].setdefault(seen.look, (seen, []))[1].append(frame)
    record, labels = _union(looks, edges)
    written = [[brief_lettering(seen.node, seen.words) for seen, _ in row.values()] for row in looks]
    numbers = [seen.number for graph_frame in graph_frames for seen in graph_frame.seen.values()]
    highest = max((int(number) for number in numbers if number), default=0)

    @functools.cache
    def without(absent: frozenset[int]) -> Layout:
        return place_looks(record, written, labels, highest, brief=True, absent=absent)

    whole = without(frozenset())
    layouts = [without(frozenset(set(range(rows)) - graph_frame.seen.keys())) for graph_frame in graph_frames]
    room = _ARROW_ROOM if any(graph_frame.moves for graph_frame in graph_frames) else 0
    height = max(layout.height for layout in layouts)
    animation = Animation(whole.width + room, height, len(graph_frames), label, -room)
    _draw_rail(animation, whole, layouts, graph_frames)
    drawn = [_wires_of(record, edges, layout) for layout in layouts]
    _draw_trunks(animation, drawn, graph_frames)
    for edge in edges:
        _draw_edge(animation, edge, drawn, looks, graph_frames)
    for box in whole.boxes:
        _draw_node(animation, box, looks[box.index], graph_frames, layouts)
    return animation


def _wires_of(record: GraphRecord, edges: Sequence[Edge], layout: Layout) -> dict[Edge, Wire]:
    wires = {(wire.reader, wire.k): wire for wire in layout.wires}
    drawn: dict[Edge, Wire] = {}
    for node in record:
        mine = [edge for edge in edges if edge[1] == node.index]
        drawn |= {edge: wires[node.index, k] for k, edge in enumerate(mine)}
    return drawn


def _row(animation: Animation, parent: ET.Element, box: Box, layouts: Sequence[Layout]) -> ET.Element:
    """A group for the row of a box, which moves with the row from frame to frame."""
    offsets = [layout.boxes[box.index].y - box.y for layout in layouts]
    if not any(offsets):
        return parent
    group = ET.SubElement(parent, "g")
    animation.slide(group, offsets)
    return group


def _union(looks: list[dict], edges: list[Edge]) -> tuple[GraphRecord, dict[int, list[str]]]:
    inputs, users, labels = defaultdict(list), defaultdict(list), defaultdict(list)
    for source, reader, text in edges:
        inputs[reader].append(source)
        users[source].append(reader)
        labels[reader].append(text)
    nodes = []
    for row, seen in enumerate(looks):
        first = next(iter(seen.values()))[0].node
        sources, readers = tuple(inputs[row]), tuple(users[row])
        nodes.append(dataclasses.replace(first, index=row, inputs=sources, users=readers, notes=(), faults=()))
    return GraphRecord(tuple(nodes)), {row: labels[row] for row in range(len(looks))}


def _draw_rail(
    animation: Animation, whole: Layout, layouts: Sequence[Layout], graph_frames: Sequence[GraphFrame]
) -> None:
    if not whole.boxes:
        return
    rail = ET.SubElement(animation.root, "g", {"class": "fx-rail"})
    lines: dict[tuple[float, float], list[int]] = defaultdict(list)
    for frame, (layout, graph_frame) in enumerate(zip(layouts, graph_frames, strict=True)):
        if graph_frame.seen:
            ends = min(graph_frame.seen), max(graph_frame.seen)
            lines[layout.boxes[ends[0]].rail_y, layout.boxes[ends[1]].rail_y].append(frame)
    for (top, bottom), shown in lines.items():
        animation.show(paint_line(rail, whole.rail_x, top, bottom), shown)
    for box in whole.boxes:
        frames: dict[str, list[int]] = defaultdict(list)
        op = ""
        for frame, graph_frame in enumerate(graph_frames):
            if box.index in graph_frame.seen and graph_frame.seen[box.index].number:
                frames[graph_frame.seen[box.index].number].append(frame)
                op = op or graph_frame.seen[box.index].node.op
        if not frames:
            continue
        row = _row(animation, rail, box, layouts)
        tick = ET.SubElement(row, "g")
        paint_tick(tick, whole, box, op)
        animation.show(tick, [frame for shown in frames.values() for frame in shown])
        for number, shown in frames.items():
            animation.show(paint_number(row, whole.rail_x, box, number), shown)
    _draw_moves(animation, rail, layouts, graph_frames)


def _draw_moves(
    animation: Animation, rail: ET.Element, layouts: Sequence[Layout], graph_frames: Sequence[GraphFrame]
) -> None:
    x = layouts[0].rail_x
    moves: dict[tuple[float, float], list[int]] = defaultdict(list)
    for frame, (layout, graph_frame) in enumerate(zip(layouts, graph_frames, strict=True)):
        for old, new in graph_frame.moves:
            moves[layout.boxes[old].rail_y, layout.boxes[new].rail_y].append(frame)
    for (start, stop), shown in moves.items():
        bend = 3 - _ARROW_ROOM
        arrow = ET.SubElement(rail, "g")
        curve = f"M{x:g} {start:g}C{bend} {start:g} {bend} {start:g} {bend} {(start + stop) / 2:g}"
        ET.SubElement(arrow, "path", {"class": "fx-jump", "d": f"{curve}S{bend} {stop:g} -6 {stop:g}"})
        ET.SubElement(arrow, "path", {"class": "fx-tip", "d": f"M2 {stop:g}l-9 -5v10z"})
        ET.SubElement(arrow, "circle", {"cx": f"{x:g}", "cy": f"{start:g}", "r": "3.5"})
        animation.show(arrow, shown)


def _in_trunk(wire: Wire) -> bool:
    """Whether an edge may share a line with other edges from the same source."""
    return wire.lane is not None and not wire.broken


def _draw_trunks(
    animation: Animation, drawn: Sequence[Mapping[Edge, Wire]], graph_frames: Sequence[GraphFrame]
) -> None:
    """The lines for ordinary edges, laid out in lanes: one line per source, since a line drawn twice looks bolder."""
    frames: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for frame, graph_frame in enumerate(graph_frames):
        paths: dict[int, list[str]] = defaultdict(list)
        for edge, wire in drawn[frame].items():
            if _in_trunk(wire) and graph_frame.edges.get(edge) == ():
                paths[wire.source].append(wire.path)
        for together in paths.values():
            frames[tuple(together)].append(frame)
    for together, shown in frames.items():
        trunk = ET.SubElement(animation.root, "g", {"class": "fx-edge"})
        ET.SubElement(trunk, "path", {"d": "".join(together)})
        animation.show(trunk, shown)


def _draw_edge(
    animation: Animation,
    edge: Edge,
    drawn: Sequence[Mapping[Edge, Wire]],
    looks: list[dict],
    graph_frames: Sequence[GraphFrame],
) -> None:
    frames: dict[tuple[tuple[str, ...], Wire], list[int]] = defaultdict(list)
    for frame, graph_frame in enumerate(graph_frames):
        if edge in graph_frame.edges:
            frames[graph_frame.edges[edge], drawn[frame][edge]].append(frame)
    keys = (next(iter(looks[row].values()))[0].key for row in edge[:2])
    ends = " ".join(map(str, keys))
    for (classes, wire), shown in frames.items():
        own = ("fx-broken",) if wire.broken else ("fx-branch",) if _in_trunk(wire) and not classes else ()
        labelled = "fx-removed" not in classes
        group = paint_wire(animation.root, wire, wire.path, (*own, *classes), {"data-fx-edge": ends}, labelled=labelled)
        animation.show(group, shown)


def _draw_node(
    animation: Animation,
    row: Box,
    looks: Mapping[tuple, tuple[Seen, list[int]]],
    graph_frames: Sequence[GraphFrame],
    layouts: Sequence[Layout],
) -> None:
    """Draw each appearance of a node as a separate group, all in one row."""
    parent = _row(animation, animation.root, row, layouts)
    for seen, shown in looks.values():
        box, attributes = row, {"data-fx-node": str(seen.key)}
        came = [(old, frame) for frame in shown for old, new in graph_frames[frame].moves if new == row.index]
        if came:
            # The row itself starts where it was in the previous frame.
            old, frame = min(came)
            before = layouts[max(frame - 1, 0)].boxes
            attributes["data-fx-from"] = f"{before[old].y - before[row.index].y:g}"
        if not seen.number and "fx-ghost" in seen.classes:
            # The node has no edges, so it need not fill its row.
            box = dataclasses.replace(box, height=min(box.height, _GHOST_HEIGHT))
        box = letter(box, seen.node.op, brief_lettering(seen.node, seen.words))
        animation.show(paint_node(parent, box, seen.node.op, seen.classes, attributes), shown)
