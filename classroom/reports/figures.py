"""Show the node that a mark blames, in its graph: as a drawing if the graph is small, otherwise as table rows.

Names, calls and arguments are the student's, so all text is shortened and cleaned, opcodes must be one of the six, and
a graph that cannot be drawn is shown as rows.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import TYPE_CHECKING

from markupsafe import Markup

from classroom.grade.records import Mark
from classroom.reports.wording import NOTHING, shown
from fxbook.graph.record import GraphRecord, NodeRecord

if TYPE_CHECKING:
    from fxbook.drawing.layout import Layout

LARGEST, MOST_EDGES = 40, 120
"""The largest graph that is drawn."""
TALLEST = 640
"""The largest height in pixels; in a taller drawing, only the rows around the blamed node are visible."""
AROUND = 6
"""Rows to show above and below the blamed node of a graph that is not drawn."""
BUDGET = 6000
"""The number of nodes to draw for one class; a count rather than a time, so that reports are reproducible."""
_HALF_A_GAP = 12
_NAME = 80
_OPCODES = ("placeholder", "get_attr", "call_module", "call_function", "call_method", "output")
_ROW = Markup('<tr{}><td>{}</td><th scope="row">{}</th><td>{}</td><td><code>{}</code></td></tr>')


@dataclasses.dataclass(frozen=True)
class _Part:
    """Nodes of a graph of ``size`` nodes, from ``first`` on; all of them if the graph is small enough to draw."""

    graph: GraphRecord
    first: int
    size: int
    blamed: NodeRecord

    @property
    def drawable(self) -> bool:
        return len(self.graph) == self.size and sum(len(node.inputs) for node in self.graph) <= MOST_EDGES


class Figures:
    """The figures for one class. Students with the same mistake in the same graph share a figure."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str], Markup] = {}
        self._left = BUDGET

    def figure(self, mark: Mark, caption: str = "Your graph") -> Markup:
        """The figure of a mark; empty if it blames no node of its graph.

        Ids begin with the exercise, so they are unique in a page with one figure per exercise.
        """
        part = _part(mark)
        if part is None:
            return NOTHING
        try:
            content = json.dumps([mark.exercise, part.blamed.index, part.size, part.graph.to_json()], sort_keys=True)
        except (TypeError, ValueError, RecursionError):
            return NOTHING
        key = (content, caption)
        if key not in self._made:
            may_draw = part.drawable and len(part.graph) <= self._left
            self._left -= len(part.graph) if may_draw else 0
            digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:8]
            self._made[key] = _made(part, f"g-{mark.exercise}-{digest}", caption, may_draw)
        return self._made[key]


def snippet(mark: Mark) -> str:
    """The blamed node in one line, ``relu = self.relu(x)``, or only its name if the graph does not contain it."""
    part = _part(mark)
    return f"{part.blamed.name} = {part.blamed.call}" if part is not None else mark.node


def _made(part: _Part, prefix: str, caption: str, may_draw: bool) -> Markup:
    caption = f"{caption}: node {part.blamed.name} is at fault"
    if may_draw:
        try:
            return _drawn(part.graph, part.blamed, prefix, caption)
        except Exception:
            # One missing drawing must not cost the class its reports.
            return _rows(part, caption)
    return _rows(part, caption)


def _drawn(graph: GraphRecord, blamed: NodeRecord, prefix: str, caption: str) -> Markup:
    from fxbook.drawing import draw_record  # Imports torch.

    # A faulty node is marked by its fault; a sound one is marked because the message refers to it.
    drawing = draw_record(graph, caption, {} if blamed.faults else {blamed.index: "meant"})
    layout = drawing.layout
    first, last = _in_sight(layout, blamed.index)
    whole = last - first + 1 == len(graph)
    table = "The table below has all of them."
    description = (
        f"{len(graph)} nodes, in the order of the list: {', '.join(node.name for node in graph)}. "
        f"Node {blamed.index}, {blamed.name}, is marked: {'; '.join(drawing.words[blamed.index])}. {table}"
    )
    part = Markup('Rows {} to {} of {} are visible. <span class="on-screen">{}</span>').format(
        first, last, len(graph), table
    )
    top = layout.boxes[first].y - _HALF_A_GAP
    height = layout.boxes[last].y + layout.boxes[last].height + _HALF_A_GAP - top
    svg = drawing.picture(prefix, description, view=None if whole else (top, height))
    reach = Markup(' aria-label="{}" role="group" tabindex="0"').format(caption) if layout.width > 300 else ""
    return Markup(
        '<figure class="fx-drawing{}"><figcaption>{}</figcaption><div class="fx-scroll"{}>{}</div>'
        '<p class="fine">{}</p><details><summary>The graph as a table</summary>{}</details></figure>'
    ).format(
        "" if whole else " part",
        caption,
        reach,
        Markup(svg),
        NOTHING if whole else part,
        _table(graph, blamed, 0, caption),
    )


def _in_sight(layout: Layout, blamed: int) -> tuple[int, int]:
    boxes = layout.boxes
    first, last = 0, len(boxes) - 1
    while boxes[last].y + boxes[last].height - boxes[first].y > TALLEST and first < last:
        # Drop the row that is farther from the blamed node.
        if blamed - first > last - blamed:
            first += 1
        else:
            last -= 1
    return first, last


def _rows(part: _Part, caption: str) -> Markup:
    at = part.blamed.index
    rows = part.graph.nodes[max(0, at - AROUND) : at + AROUND + 1]
    first = part.first + rows[0].index
    left_out = f"Rows {first} to {first + len(rows) - 1} of a graph of {part.size} nodes."
    return Markup('<figure class="fx-drawing"><figcaption>{}</figcaption>{}<p class="fine">{}</p></figure>').format(
        caption, _table(rows, part.blamed, part.first, caption), left_out if len(rows) < part.size else ""
    )


def _table(rows: GraphRecord | tuple[NodeRecord, ...], blamed: NodeRecord, first: int, caption: str) -> Markup:
    body = NOTHING.join(
        _ROW.format(
            Markup(' class="at-fault"') if node is blamed else "",
            f"! {first + node.index}" if node is blamed else first + node.index,
            node.name,
            node.op,
            node.call,
        )
        for node in rows
    )
    head = NOTHING.join(Markup('<th scope="col">{}</th>').format(title) for title in ("#", "name", "opcode", "call"))
    return Markup(
        '<div class="wide" role="group" tabindex="0" aria-label="{}, as a table">'
        '<table class="nodes"><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>'
    ).format(caption, head, body)


def _part(mark: Mark) -> _Part | None:
    """The part of a mark's graph to show, or ``None`` if there is no graph or it does not contain the blamed node."""
    try:
        nodes = mark.graph["nodes"]
        at = next(i for i, node in enumerate(nodes) if mark.node and shown(node["name"], _NAME) == mark.node)
        small = len(nodes) <= LARGEST
        first, last = (0, len(nodes)) if small else (max(0, at - AROUND), at + AROUND + 1)
        read = GraphRecord.from_json({"nodes": nodes[first:last], "lint": None, "stale": False})
        # The message contains the result of lint, and a stale module has its own message.
        graph = GraphRecord(tuple(_node(node, index, len(nodes), small) for index, node in enumerate(read)))
    except (StopIteration, TypeError, KeyError, ValueError, AttributeError, RecursionError):
        return None
    return _Part(graph, first, len(nodes), graph.nodes[at - first])


def _node(node: NodeRecord, index: int, size: int, with_edges: bool) -> NodeRecord:
    """The node with printable text.

    Raises:
        ValueError: it cannot be a node of a graph of that size.
    """
    if node.op not in _OPCODES or not all(type(i) is int and 0 <= i < size for i in (*node.inputs, *node.users)):
        raise ValueError("not a node of a graph")
    return dataclasses.replace(
        node,
        index=index,
        name=shown(node.name, _NAME),
        target=shown(node.target, 120),
        kind=None if node.kind is None else shown(node.kind, 80),
        call=shown(node.call, 200),
        args=node.args if with_edges else None,
        kwargs=node.kwargs if with_edges else None,
        inputs=node.inputs if with_edges else (),
        users=node.users if with_edges else (),
        notes=tuple(shown(note, 80) for note in node.notes[:4]),
        faults=tuple(shown(fault, 160) for fault in node.faults[:3]),
        scope="",
    )
