"""A placed graph as one standalone ``<svg>``, with ids, titles and a description."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence

from fxbook.drawing.boxes import Box
from fxbook.drawing.layout import Layout, Wire
from fxbook.drawing.lettering import clean
from fxbook.drawing.paint import (
    add_text,
    paint_node,
    paint_number,
    paint_rail,
    paint_tick,
    paint_wire,
    state_classes,
)
from fxbook.graph.record import GraphRecord, NodeRecord

Marks = Mapping[int, tuple[str, ...]]
View = tuple[float, float]
"""The visible part of a picture: its top and its height, in pixels at natural size."""

# A single hue, from none to strong: it works on light and dark pages, and in greyscale.
_HUE, _STRONGEST = "#d55e00", 0.6
# The distance between a node and its number, with an arrow in between.
_ASIDE = 7


def picture(
    record: GraphRecord,
    layout: Layout,
    marks: Marks,
    prefix: str,
    title: str,
    description: str,
    numbers: Sequence[int],
    *,
    fill: Mapping[int, float] | None = None,
    view: View | None = None,
) -> ET.Element:
    """The drawing as one ``<svg>`` element; every id in it starts with ``prefix``. ``numbers`` are list positions.

    A node's group is ``<prefix>-n-<index>``, an edge's ``<prefix>-e-<from>-<to>-<k>``, its number in the list
    ``<prefix>-r-<index>``. With ``fill``, colour shows a strength from 0 to 1 instead of the opcode.
    """
    top, height = view or (0.0, layout.height)
    svg = ET.Element(
        "svg",
        {
            "aria-labelledby": f"{prefix}-title {prefix}-desc",
            "class": "fx-svg",
            "role": "img",
            # The picture is never enlarged; text never shrinks below 12.5 px, and the picture scrolls instead.
            "style": f"max-width:{layout.width:g}px;min-width:{layout.width * 0.96:g}px",
            "viewBox": f"0 {top:g} {layout.width:g} {height:g}",
            "xmlns": "http://www.w3.org/2000/svg",
        },
    )
    add_text(svg, "title", title, id=f"{prefix}-title")
    add_text(svg, "desc", description, id=f"{prefix}-desc")
    if layout.boxes:
        _numbers(svg, record, layout, marks, prefix, numbers)
    for wire in layout.wires:
        _wire(svg, record, wire, marks, prefix)
    for box in layout.boxes:
        strength = None if fill is None else fill.get(box.index, 0.0)
        _node(svg, record.nodes[box.index], box, marks.get(box.index, ()), prefix, numbers[box.index], strength)
    return svg


def _numbers(
    svg: ET.Element, record: GraphRecord, layout: Layout, marks: Marks, prefix: str, numbers: Sequence[int]
) -> None:
    rail = ET.SubElement(svg, "g", {"class": "fx-rail"}) if layout.rail_x is None else paint_rail(svg, layout)
    for box in layout.boxes:
        row, y = ET.SubElement(rail, "g", {"id": f"{prefix}-r-{box.index}"}), box.rail_y
        moved = "moved" in marks.get(box.index, ())
        if layout.rail_x is None:
            x = box.x - _ASIDE if moved else box.x
        else:
            x = layout.rail_x
            paint_tick(row, layout, box, record.nodes[box.index].op)
        paint_number(row, x, box, str(numbers[box.index]))
        if moved:
            arrow = f"M{x:g} {y - 11:g}v22M{x - 4:g} {y - 6:g}l4 -5l4 5M{x - 4:g} {y + 6:g}l4 5l4 -5"
            ET.SubElement(row, "path", {"class": "fx-shift", "d": arrow})


def _wire(svg: ET.Element, record: GraphRecord, wire: Wire, marks: Marks, prefix: str) -> None:
    ends = (*marks.get(wire.source, ()), *marks.get(wire.reader, ()))
    classes = ["fx-broken"] if wire.broken else []
    classes += ["fx-rewired"] if "rewired" in marks.get(wire.reader, ()) else []
    classes += ["fx-removed"] if "removed" in ends else []
    # An edge that differs in style from the others in its lane is drawn completely.
    path = wire.path if classes else wire.branch
    title = f"{clean(record.nodes[wire.reader].name)} uses {clean(record.nodes[wire.source].name)}"
    identity = f"{prefix}-e-{wire.source}-{wire.reader}-{wire.k}"
    paint_wire(svg, wire, path, classes, {"id": identity}, title=title)


def _node(
    svg: ET.Element,
    node: NodeRecord,
    box: Box,
    marks: tuple[str, ...],
    prefix: str,
    number: int,
    strength: float | None,
) -> None:
    classes = list(dict.fromkeys([*(f"fx-{mark}" for mark in marks), *state_classes(node)]))
    kind = f" ({clean(node.kind)})" if node.kind else ""
    title = f"{number} {clean(node.name)}: {node.op}{kind}\n{clean(node.call)}"
    # This is inline, since the style sheet of all drawings colours by opcode.
    style = "" if strength is None else f"fill:{_HUE};fill-opacity:{round(_STRONGEST * strength, 3):g}"
    paint_node(svg, box, node.op, classes, {"id": f"{prefix}-n-{node.index}"}, title=title, style=style)
