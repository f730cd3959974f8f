"""Draw a graph as a film: what is seen in each frame, laid out once for all of them."""

from __future__ import annotations

import dataclasses
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Mapping, Sequence

from fxbook.drawing.boxes import Box, brief_lettering, letter
from fxbook.drawing.display import words_for
from fxbook.drawing.layout import Layout, Wire, argument_places, place_looks
from fxbook.drawing.paint import paint_node, paint_number, paint_rail, paint_tick, paint_wire, state_classes
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.stepping.film import Film

Edge = tuple[int, int, str]
"""The row of the node that is read, the row of its reader, the label at the arrow."""
_ARROW_ROOM, _GHOST_HEIGHT = 20, 44


@dataclasses.dataclass(frozen=True)
class Seen:
    """A node as it is seen in one frame.

    ``key`` is its identity in all frames, ``number`` its place in the list (``""``: it is not in the list), ``words``
    are further lines on it, ``classes`` change its look.
    """

    node: NodeRecord
    key: int
    number: str
    words: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()

    @property
    def look(self) -> tuple:
        """Equal for what is drawn alike; the number stands apart, on the rail."""
        node = self.node
        return node.op, node.name, self.words, self.classes


@dataclasses.dataclass(frozen=True)
class Scene:
    """What is seen in one frame: nodes by row, edges with their classes, moves from row to row.

    A row belongs to one node, in every scene of a film.
    """

    seen: dict[int, Seen]
    edges: dict[Edge, tuple[str, ...]]
    moves: tuple[tuple[int, int], ...] = ()


def still(
    record: GraphRecord,
    words: Mapping[int, Sequence[str]] | None = None,
    classes: Mapping[int, Sequence[str]] | None = None,
    edge_classes: Mapping[tuple[int, int], Sequence[str]] | None = None,
) -> Scene:
    """The scene of a whole record: rows and keys are indices; its notes and faults are written on its nodes.

    ``words`` and ``classes`` are by index, ``edge_classes`` by the indices of the node that is read and its reader.
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
    return Scene(seen, edges)


def inputs_of(node: NodeRecord) -> list[tuple[int, str]]:
    """What the node reads, with the label of each arrow: its place among the arguments, where there are several."""
    labels = argument_places(node) if len(node.inputs) > 1 else [""] * len(node.inputs)
    return list(zip(node.inputs, labels, strict=True))


def film_of(scenes: Sequence[Scene], label: str) -> Film:
    """The scenes as one drawing, in which whatever stays, stays where it is."""
    rows = 1 + max((row for scene in scenes for row in scene.seen), default=-1)
    edges = sorted({edge for scene in scenes for edge in scene.edges}, key=lambda edge: (edge[1], edge[2], edge[0]))
    looks: list[dict[tuple, tuple[Seen, list[int]]]] = [{} for _ in range(rows)]
    for frame, scene in enumerate(scenes):
        for row, seen in scene.seen.items():
            looks[row].setdefault(seen.look, (seen, []))[1].append(frame)
    record, labels = _union(looks, edges)
    written = [[brief_lettering(seen.node, seen.words) for seen, _ in row.values()] for row in looks]
    numbers = [seen.number for scene in scenes for seen in scene.seen.values()]
    highest = max((int(number) for number in numbers if number), default=0)
    layout = place_looks(record, written, labels, highest, brief=True)
    room = _ARROW_ROOM if any(scene.moves for scene in scenes) else 0
    film = Film(layout.width + room, layout.height, len(scenes), label, -room)
    _draw_rail(film, layout, scenes)
    wires = {(wire.reader, wire.k): wire for wire in layout.wires}
    drawn: dict[Edge, Wire] = {}
    for node in record:
        mine = [edge for edge in edges if edge[1] == node.index]
        drawn |= {edge: wires[node.index, k] for k, edge in enumerate(mine)}
    _draw_trunks(film, drawn, scenes)
    for edge, wire in drawn.items():
        _draw_edge(film, wire, edge, looks, scenes)
    for box in layout.boxes:
        _draw_node(film, box, looks[box.index], scenes, layout)
    return film


def _union(looks: list[dict], edges: list[Edge]) -> tuple[GraphRecord, dict[int, list[str]]]:
    """All rows and edges as one record, for the layout, and the labels of the edges."""
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


def _draw_rail(film: Film, layout: Layout, scenes: Sequence[Scene]) -> None:
    """The line of the list, and the number of each node beside it."""
    if not layout.boxes:
        return
    rail = paint_rail(film.root, layout)
    for box in layout.boxes:
        frames: dict[str, list[int]] = defaultdict(list)
        op = ""
        for frame, scene in enumerate(scenes):
            if box.index in scene.seen and scene.seen[box.index].number:
                frames[scene.seen[box.index].number].append(frame)
                op = op or scene.seen[box.index].node.op
        if not frames:
            continue
        tick = ET.SubElement(rail, "g")
        paint_tick(tick, layout, box, op)
        film.show(tick, [frame for shown in frames.values() for frame in shown])
        for number, shown in frames.items():
            film.show(paint_number(rail, layout.rail_x, box, number), shown)
    _draw_moves(film, rail, layout, scenes)


def _draw_moves(film: Film, rail: ET.Element, layout: Layout, scenes: Sequence[Scene]) -> None:
    """An arrow beside the rail for each node that got another place."""
    x = layout.rail_x
    moves: dict[tuple[int, int], list[int]] = defaultdict(list)
    for frame, scene in enumerate(scenes):
        for move in scene.moves:
            moves[move].append(frame)
    for (old, new), shown in moves.items():
        start, stop = layout.boxes[old].rail_y, layout.boxes[new].rail_y
        bend = 3 - _ARROW_ROOM
        arrow = ET.SubElement(rail, "g")
        curve = f"M{x:g} {start:g}C{bend} {start:g} {bend} {start:g} {bend} {(start + stop) / 2:g}"
        ET.SubElement(arrow, "path", {"class": "fx-jump", "d": f"{curve}S{bend} {stop:g} -6 {stop:g}"})
        ET.SubElement(arrow, "path", {"class": "fx-tip", "d": f"M2 {stop:g}l-9 -5v10z"})
        ET.SubElement(arrow, "circle", {"cx": f"{x:g}", "cy": f"{start:g}", "r": "3.5"})
        film.show(arrow, shown)


def _in_trunk(wire: Wire) -> bool:
    """Whether other edges of the same source may run along with this one."""
    return wire.lane is not None and not wire.broken


def _draw_trunks(film: Film, drawn: Mapping[Edge, Wire], scenes: Sequence[Scene]) -> None:
    """The lines of ordinary edges in lanes, those of one source as one: lines drawn twice look bolder than they are."""
    frames: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for frame, scene in enumerate(scenes):
        paths: dict[int, list[str]] = defaultdict(list)
        for edge, wire in drawn.items():
            if _in_trunk(wire) and scene.edges.get(edge) == ():
                paths[wire.source].append(wire.path)
        for together in paths.values():
            frames[tuple(together)].append(frame)
    for together, shown in frames.items():
        trunk = ET.SubElement(film.root, "g", {"class": "fx-edge"})
        ET.SubElement(trunk, "path", {"d": "".join(together)})
        film.show(trunk, shown)


def _draw_edge(film: Film, wire: Wire, edge: Edge, looks: list[dict], scenes: Sequence[Scene]) -> None:
    frames: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for frame, scene in enumerate(scenes):
        if edge in scene.edges:
            frames[scene.edges[edge]].append(frame)
    keys = (next(iter(looks[row].values()))[0].key for row in edge[:2])
    ends = " ".join(map(str, keys))
    for classes, shown in frames.items():
        own = ("fx-broken",) if wire.broken else ("fx-branch",) if _in_trunk(wire) and not classes else ()
        labelled = "fx-removed" not in classes
        group = paint_wire(film.root, wire, wire.path, (*own, *classes), {"data-fx-edge": ends}, labelled=labelled)
        film.show(group, shown)


def _draw_node(
    film: Film, row: Box, looks: Mapping[tuple, tuple[Seen, list[int]]], scenes: Sequence[Scene], layout: Layout
) -> None:
    """Each look of a node as a group of its own, all in one place."""
    for seen, shown in looks.values():
        box, attributes = row, {"data-fx-node": str(seen.key)}
        came = {old for frame in shown for old, new in scenes[frame].moves if new == row.index}
        if came:
            attributes["data-fx-from"] = f"{layout.boxes[min(came)].y - row.y:g}"
        if not seen.number and "fx-ghost" in seen.classes:
            # Nothing leads to it, so it need not fill its row.
            box = dataclasses.replace(box, height=min(box.height, _GHOST_HEIGHT))
        box = letter(box, seen.node.op, brief_lettering(seen.node, seen.words))
        film.show(paint_node(film.root, box, seen.node.op, seen.classes, attributes), shown)
