"""Draw a placed graph as SVG: shapes by opcode, edges, the rail of the list order, marks; no colour but by class."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping

from fxbook.drawing.layout import CHAMFER, LID, Box, Layout, Wire, inset
from fxbook.drawing.lettering import clean
from fxbook.graph.record import GraphRecord, NodeRecord

SIGNS = {"added": "+", "removed": "\N{MINUS SIGN}", "rewired": "↪", "moved": "↕", "broken": "!"}
Marks = Mapping[int, tuple[str, ...]]


def picture(record: GraphRecord, layout: Layout, marks: Marks, prefix: str, title: str, description: str) -> str:
    """The drawing as one ``<svg>`` element; every id in it starts with ``prefix``.

    A node's group is ``<prefix>-n-<index>``, an edge's ``<prefix>-e-<from>-<to>-<k>``, a row's number on the rail
    ``<prefix>-r-<index>``.
    """
    svg = ET.Element(
        "svg",
        {
            "aria-labelledby": f"{prefix}-title {prefix}-desc",
            "class": "fx-svg",
            "role": "img",
            # Never enlarged; text is never shrunk below 12.5 px, beyond that the picture scrolls.
            "style": f"max-width:{layout.width:g}px;min-width:{layout.width * 0.96:g}px",
            "viewBox": f"0 0 {layout.width:g} {layout.height:g}",
            "xmlns": "http://www.w3.org/2000/svg",
        },
    )
    add_text(svg, "title", title, id=f"{prefix}-title")
    add_text(svg, "desc", description, id=f"{prefix}-desc")
    _rail(svg, record, layout, marks, prefix)
    for wire in layout.wires:
        _wire(svg, record, wire, marks, prefix)
    for box in layout.boxes:
        _node(svg, record.nodes[box.index], box, marks, prefix)
    return ET.tostring(svg, encoding="unicode")


def swatch(op: str) -> str:
    """The shape of an opcode as a small picture for the legend."""
    svg = ET.Element("svg", {"aria-hidden": "true", "class": f"fx-swatch fx-op-{op}", "viewBox": "0 0 34 20"})
    shape(svg, op, Box(0, 2, 2, 30, 16, (), 0))
    return ET.tostring(svg, encoding="unicode")


def _rail(svg: ET.Element, record: GraphRecord, layout: Layout, marks: Marks, prefix: str) -> None:
    if not layout.boxes:
        return
    rail = ET.SubElement(svg, "g", {"class": "fx-rail"})
    first, last = layout.boxes[0].rail_y, layout.boxes[-1].rail_y
    x = layout.rail_x
    ET.SubElement(rail, "path", {"class": "fx-line", "d": f"M{x:g} {first:g}V{last:g}"})
    for box in layout.boxes:
        y, op = box.rail_y, record.nodes[box.index].op
        row = ET.SubElement(rail, "g", {"id": f"{prefix}-r-{box.index}"})
        end = box.x + inset(op, box, y)
        ET.SubElement(row, "path", {"class": "fx-hair", "d": f"M{x:g} {y:g}H{round(end, 1):g}"})
        ET.SubElement(row, "circle", {"cx": f"{x:g}", "cy": f"{y:g}", "r": "2"})
        add_text(row, "text", str(box.index), x=f"{x - 6:g}", y=f"{y + 4.5:g}")
        if "moved" in marks.get(box.index, ()):
            arrow = f"M{x:g} {y - 11:g}v22M{x - 4:g} {y - 6:g}l4 -5l4 5M{x - 4:g} {y + 6:g}l4 5l4 -5"
            ET.SubElement(row, "path", {"class": "fx-shift", "d": arrow})


def _wire(svg: ET.Element, record: GraphRecord, wire: Wire, marks: Marks, prefix: str) -> None:
    ends = (*marks.get(wire.source, ()), *marks.get(wire.reader, ()))
    classes = ["fx-edge"]
    classes += ["fx-broken"] if wire.broken else []
    classes += ["fx-rewired"] if "rewired" in marks.get(wire.reader, ()) else []
    classes += ["fx-removed"] if "removed" in ends else []
    group = ET.SubElement(
        svg, "g", {"class": " ".join(classes), "id": f"{prefix}-e-{wire.source}-{wire.reader}-{wire.k}"}
    )
    source, reader = record.nodes[wire.source], record.nodes[wire.reader]
    add_text(group, "title", f"{clean(reader.name)} reads {clean(source.name)}")
    # An edge that looks unlike the others of its lane is drawn whole.
    ET.SubElement(group, "path", {"d": wire.branch if classes == ["fx-edge"] else wire.path})
    ET.SubElement(group, "path", {"class": "fx-head", "d": wire.head})
    if wire.label_at:
        x, y = wire.label_at
        add_text(group, "text", wire.label, x=f"{round(x, 1):g}", y=f"{round(y, 1):g}")


def _node(svg: ET.Element, node: NodeRecord, box: Box, marks: Marks, prefix: str) -> None:
    own = marks.get(node.index, ())
    broken = ["broken"] if node.faults and "broken" not in own else []
    dead = ["dead"] if node.op != "group" and any("dead" in note for note in node.notes) else []
    classes = ["fx-node", f"fx-op-{node.op}", *(f"fx-{word}" for word in (*own, *broken, *dead))]
    group = ET.SubElement(svg, "g", {"class": " ".join(classes), "id": f"{prefix}-n-{node.index}"})
    kind = f" ({clean(node.kind)})" if node.kind else ""
    add_text(group, "title", f"{node.index} {clean(node.name)}: {node.op}{kind}\n{clean(node.call)}")
    shape(group, node.op, box)
    for kind, text, y in box.lines:
        add_text(group, "text", text, **{"class": f"fx-{kind}"}, x=f"{box.middle:g}", y=f"{y:g}")


def shape(parent: ET.Element, op: str, box: Box) -> None:
    """The outline: pills are the ends, a cylinder is stored, doubled sides hold weights, the rest are steps."""
    x, y, w, h = box.x, box.y, box.width, box.height
    right, bottom, middle = x + w, y + h, y + h / 2
    match op:
        case "get_attr":
            lid = f"a{w / 2:g} {LID} 0 0 1 {w:g} 0"
            body = f"M{x:g} {y + LID:g}{lid}v{h - 2 * LID:g}a{w / 2:g} {LID} 0 0 1 -{w:g} 0z"
            ET.SubElement(parent, "path", {"class": "fx-shape", "d": body})
            front = f"M{x:g} {y + LID:g}a{w / 2:g} {LID} 0 0 0 {w:g} 0"
            ET.SubElement(parent, "path", {"class": "fx-inner", "d": front})
        case "call_method":
            c = min(CHAMFER, w / 4)
            upper = f"M{x:g} {middle:g}L{x + c:g} {y:g}H{right - c:g}L{right:g} {middle:g}"
            hexagon = f"{upper}L{right - c:g} {bottom:g}H{x + c:g}z"
            ET.SubElement(parent, "path", {"class": "fx-shape", "d": hexagon})
        case _:
            radius = {"placeholder": min(h / 2, 22), "output": min(h / 2, 22), "call_function": 8}.get(op, 1)
            rect = {"height": f"{h:g}", "rx": f"{radius:g}", "width": f"{w:g}", "x": f"{x:g}", "y": f"{y:g}"}
            ET.SubElement(parent, "rect", {"class": "fx-shape", **rect})
            if op == "call_module":
                sides = f"M{x + 5:g} {y:g}V{bottom:g}M{right - 5:g} {y:g}V{bottom:g}"
                ET.SubElement(parent, "path", {"class": "fx-inner", "d": sides})
            elif op == "output":
                inner = {"height": f"{h - 6:g}", "rx": f"{radius - 3:g}", "width": f"{w - 6:g}"}
                ET.SubElement(parent, "rect", {"class": "fx-inner", **inner, "x": f"{x + 3:g}", "y": f"{y + 3:g}"})
            elif op == "group":
                ET.SubElement(
                    parent, "path", {"class": "fx-inner", "d": f"M{x + 4:g} {bottom + 4:g}H{right + 4:g}V{y + 4:g}"}
                )


def add_text(parent: ET.Element, tag: str, text: str, **attributes: str) -> ET.Element:
    """Append an element that holds text."""
    element = ET.SubElement(parent, tag, attributes)
    element.text = text
    return element
