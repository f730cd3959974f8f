"""Place a graph: one row per node in list order, and one lane per value that skips rows.

``fxbook.drawing.lanes`` chooses the lanes. Distances are set here, so that a drawing stays narrow and its text fits.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Sequence

from fxbook.drawing.boxes import (
    ADVANCE,
    BRIEF_PAD_Y,
    LABEL_SIZE,
    PAD_Y,
    Box,
    Lettering,
    brief_lettering,
    even,
    inset,
    letter,
    lettering,
    text_height,
    text_width,
)
from fxbook.drawing.lanes import Lane, Side, find_lanes
from fxbook.drawing.lettering import clean, cut
from fxbook.graph.record import JSON, GraphRecord, NodeRecord

MARGIN = 3
"""The margin around a drawing, in pixels."""
_ROW_GAP, _BRIEF_ROW_GAP, _PITCH, _LEAST_WIDTH = 18, 16, 9, 96


@dataclasses.dataclass(frozen=True)
class Wire:
    """One argument that is a node: its path, its arrowhead, and its position among the arguments.

    ``branch`` is the part of the path that no other edge in the same lane draws. ``k`` counts the inputs of the reader
    (``NodeRecord.inputs[k]``). ``label``, drawn at ``label_at``, is the position of the argument: ``0`` for
    ``args[0]``, ``0.1`` for ``args[0][1]``, the name for a keyword, ``!`` for an edge that is at fault; it is empty if
    the reader has only one input. ``lane`` is the x coordinate of its lane, or ``None`` for a straight edge.
    """

    source: int
    reader: int
    k: int
    path: str
    branch: str
    head: str
    label: str
    label_at: tuple[float, float] | None
    broken: bool
    lane: float | None = None


@dataclasses.dataclass(frozen=True)
class Layout:
    """A placed graph; all lengths are in pixels at natural size. Without a rail, the numbers are next to the nodes."""

    width: float
    height: float
    rail_x: float | None
    boxes: tuple[Box, ...]
    wires: tuple[Wire, ...]


def place(
    record: GraphRecord,
    words: dict[int, list[str]] | None = None,
    highest_number: int | None = None,
    *,
    brief: bool = False,
) -> Layout:
    words, written = words or {}, brief_lettering if brief else lettering
    looks = [[written(node, words.get(node.index, ()))] for node in record]
    return place_looks(record, looks, input_labels(record), highest_number, brief=brief)


def place_looks(
    record: GraphRecord,
    looks: Sequence[Sequence[Lettering]],
    labels: Mapping[int, Sequence[str]],
    highest_number: int | None = None,
    *,
    brief: bool = False,
    absent: frozenset[int] = frozenset(),
) -> Layout:
    """Place nodes that look different at different times.

    Args:
        record: the rows and the edges.
        looks: for each row, every text that it ever shows, in order: its box fits all of them.
        labels: for each row, a label per input, or no labels.
        highest_number: the largest number on the rail; by default the number of the last row.
        brief: whether rows are close together, because a table next to the drawing has the rest.
        absent: rows that take up no room; lanes and widths are the same with and without them.
    """
    gap, pad = (_BRIEF_ROW_GAP, BRIEF_PAD_Y) if brief else (_ROW_GAP, PAD_Y)
    straight, lanes = find_lanes(record)
    slots: dict[tuple[int, Side], list[tuple[int, Lane]]] = defaultdict(list)
    for lane in lanes:
        for reader, k in lane.readers:
            slots[reader, lane.side].append((k, lane))
    exits = defaultdict(set)
    for lane in lanes:
        exits[lane.source, lane.side].add(lane.falls)

    width = text_width((look for row in looks for look in row), _LEAST_WIDTH)
    gaps = {side: _gap(side, slots, labels) for side in ("left", "right")}
    count = {side: max((lane.place for lane in lanes if lane.side == side), default=0) for side in ("left", "right")}
    digits = len(str(max(len(record) - 1, 0) if highest_number is None else highest_number))
    rail_x = even(MARGIN + digits * LABEL_SIZE * ADVANCE + 6)
    beside = {side: gaps[side] + (count[side] - 1) * _PITCH if count[side] else 0 for side in ("left", "right")}
    left = rail_x + max(beside["left"] + _PITCH, 16)

    boxes, y = [], float(MARGIN)
    for node, row in zip(record, looks, strict=True):
        most = max(len(slots[node.index, side]) + len(exits[node.index, side]) for side in ("left", "right"))
        boxes.append(_box(node, row, left, y, width, most, pad))
        if node.index not in absent:
            y = boxes[-1].y + boxes[-1].height + gap
    height = max(y - gap, 30) + MARGIN
    wires = [_straight_wire(record, boxes, labels, *edge) for edge in straight]
    for lane in lanes:
        wires += _lane_wires(record, boxes, labels, lane, slots, exits, gaps[lane.side])
    wires.sort(key=lambda wire: (wire.reader, wire.k))
    total = left + width + max(beside["right"] + 6, 2) + MARGIN
    return Layout(even(total), height, rail_x, tuple(boxes), tuple(wires))


def input_labels(record: GraphRecord) -> dict[int, list[str]]:
    """For each node, a label per input: its position among the arguments if there are several; none for a group."""
    return {node.index: argument_places(node) if len(node.inputs) > 1 and node.op != "group" else [] for node in record}


def argument_places(node: NodeRecord) -> list[str]:
    found: list[str] = []
    for key, value in _parts(node.args):
        _walk(value, key, found)
    for key, value in _parts(node.kwargs):
        _walk(value, key, found)
    return found if len(found) == len(node.inputs) else [str(k) for k in range(len(node.inputs))]


def _parts(value: JSON) -> list[tuple[str, JSON]]:
    match value:
        case {"tuple": items} | {"slice": items}:
            return [(str(i), item) for i, item in enumerate(items)]
        case list():
            return [(str(i), item) for i, item in enumerate(value)]
        case {"dict": items}:
            return [(str(key), item) for key, item in items]
    return []


def _walk(value: JSON, place: str, found: list[str]) -> None:
    if isinstance(value, dict) and "node" in value:
        found.append(place)
    for key, item in _parts(value):
        _walk(item, f"{place}.{key}", found)


def _gap(side: Side, slots: dict, labels: Mapping[int, Sequence[str]]) -> float:
    texts = [
        shown_label(labels, reader, k, not lane.falls)
        for (reader, at), ends in slots.items()
        if at == side
        for k, lane in ends
    ]
    return even(14 + max(map(len, texts), default=0) * LABEL_SIZE * ADVANCE)


def shown_label(labels: Mapping[int, Sequence[str]], reader: int, k: int, broken: bool) -> str:
    return "!" if broken else cut(clean(labels[reader][k]), 5) if labels[reader] else ""


def _box(node: NodeRecord, looks: Sequence[Lettering], x: float, y: float, width: float, slots: int, pad: float) -> Box:
    # Labels need 15 pixels each; if many edges end on one side, they are closer together, to limit the node's height.
    spread = (slots + 1) * (15 if slots <= 8 else 7)
    height = max(text_height(node.op, looks, pad), spread)
    return letter(Box(node.index, x, y, width, height, (), y + 9), node.op, looks[0])


def _straight_wire(
    record: GraphRecord, boxes: list[Box], labels: Mapping[int, Sequence[str]], source: int, reader: int, k: int
) -> Wire:
    """An edge between adjacent rows, down the middle; an upward edge is off-centre, so that both are visible."""
    node, rises = record.nodes[reader], reader < source
    same = [at for at, index in enumerate(node.inputs) if index == source]
    x = boxes[reader].middle + (same.index(k) - (len(same) - 1) / 2) * 30 + (boxes[reader].width / 4 if rises else 0)
    start = boxes[source].y if rises else boxes[source].y + boxes[source].height
    end = boxes[reader].y + boxes[reader].height if rises else boxes[reader].y
    sign = -1 if rises else 1
    path = f"M{_n(x)} {_n(start)}V{_n(end - sign * 6)}"
    head = f"M{_n(x)} {_n(end)}l-4 {-8 * sign}h8z"
    label = shown_label(labels, reader, k, rises)
    at = (x + 5 + len(label) * LABEL_SIZE * ADVANCE / 2, (start + end) / 2 + 3) if label else None
    return Wire(source, reader, k, path, path, head, label, at, rises)


def _lane_wires(
    record: GraphRecord,
    boxes: list[Box],
    labels: Mapping[int, Sequence[str]],
    lane: Lane,
    slots: dict,
    exits: dict,
    gap: float,
) -> list[Wire]:
    """The edges of one lane: out of the side of the source, along the lane, and into the side of each reader."""
    sign = -1 if lane.side == "left" else 1
    edge = {"left": boxes[0].x, "right": boxes[0].x + boxes[0].width}[lane.side]
    x = edge + sign * (gap + (lane.place - 1) * _PITCH)

    def height_at(index: int, slot: int) -> float:
        box = boxes[index]
        total = len(slots[index, lane.side]) + len(exits[index, lane.side])
        return round(box.y + box.height * (slot + 1) / (total + 1), 1)

    def outline(index: int, y: float) -> float:
        return edge - sign * inset(record.nodes[index].op, boxes[index], y)

    kinds = sorted(exits[lane.source, lane.side])
    out_y = height_at(lane.source, len(slots[lane.source, lane.side]) + kinds.index(lane.falls))
    wires = []
    drawn_to = None
    for reader, k in lane.readers:
        in_y = height_at(reader, sorted(end for end, _ in slots[reader, lane.side]).index(k))
        down = 1 if in_y > out_y else -1
        tip = outline(reader, in_y)
        turn = in_y - 5 * down
        into = f"V{_n(turn)}q0 {5 * down} {-5 * sign} {5 * down}H{_n(tip + sign * 6)}"
        out = f"M{_n(outline(lane.source, out_y))} {_n(out_y)}H{_n(x - sign * 5)}q{5 * sign} 0 {5 * sign} {5 * down}"
        # A line drawn twice looks bolder.
        branch = out + into if drawn_to is None else f"M{_n(x)} {_n(drawn_to)}{into}"
        drawn_to = turn
        head = f"M{_n(tip)} {_n(in_y)}l{8 * sign} -4v8z"
        label = shown_label(labels, reader, k, not lane.falls)
        at = (tip + sign * (9 + len(label) * LABEL_SIZE * ADVANCE / 2), in_y - 3) if label else None
        wires.append(Wire(lane.source, reader, k, out + into, branch, head, label, at, not lane.falls, x))
    return wires


def _n(value: float) -> str:
    return f"{round(value, 1):g}"
