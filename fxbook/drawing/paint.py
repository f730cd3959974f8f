"""Paint the parts of a drawing: shapes by opcode, edges, and the rail for list order. Classes alone set the colours.

Stills (``fxbook.drawing.still``) and animations (``fxbook.stepping.graph_frame``) share these parts, so they look
alike.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence

from fxbook.drawing.boxes import CHAMFER, LID, Box, inset
from fxbook.drawing.layout import Layout, Wire
from fxbook.graph.record import NodeRecord

SIGNS = {"added": "+", "removed": "\N{MINUS SIGN}", "rewired": "↪", "moved": "↕", "broken": "!", "meant": "?"}


def state_classes(node: NodeRecord) -> tuple[str, ...]:
    dead = node.op != "group" and any("dead" in note for note in node.notes)
    return (*(["fx-broken"] if node.faults else []), *(["fx-dead"] if dead else []))


def paint_rail(parent: ET.Element, layout: Layout) -> ET.Element:
    rail = ET.SubElement(parent, "g", {"class": "fx-rail"})
    paint_line(rail, layout.rail_x, layout.boxes[0].rail_y, layout.boxes[-1].rail_y)
    return rail


def paint_line(rail: ET.Element, x: float | None, top: float, bottom: float) -> ET.Element:
    return ET.SubElement(rail, "path", {"class": "fx-line", "d": f"M{x:g} {top:g}V{bottom:g}"})


def paint_tick(parent: ET.Element, layout: Layout, box: Box, op: str) -> None:
    x, y = layout.rail_x, box.rail_y
    end = box.x + inset(op, box, y)
    ET.SubElement(parent, "path", {"class": "fx-hair", "d": f"M{x:g} {y:g}H{round(end, 1):g}"})
    ET.SubElement(parent, "circle", {"cx": f"{x:g}", "cy": f"{y:g}", "r": "2"})


def paint_number(parent: ET.Element, x: float, box: Box, number: str) -> ET.Element:
    return add_text(parent, "text", number, x=f"{x - 6:g}", y=f"{box.rail_y + 4.5:g}")


def paint_wire(
    parent: ET.Element,
    wire: Wire,
    path: str,
    classes: Sequence[str],
    attributes: Mapping[str, str],
    *,
    title: str = "",
    labelled: bool = True,
) -> ET.Element:
    group = ET.SubElement(parent, "g", {"class": " ".join(("fx-edge", *classes)), **attributes})
    if title:
        add_text(group, "title", title)
    ET.SubElement(group, "path", {"d": path})
    ET.SubElement(group, "path", {"class": "fx-head", "d": wire.head})
    if wire.label_at and labelled:
        x, y = wire.label_at
        add_text(group, "text", wire.label, x=f"{round(x, 1):g}", y=f"{round(y, 1):g}")
    return group


def paint_node(
    parent: ET.Element,
    box: Box,
    op: str,
    classes: Sequence[str],
    attributes: Mapping[str, str],
    *,
    title: str = "",
    style: str = "",
) -> ET.Element:
    group = ET.SubElement(parent, "g", {"class": " ".join(("fx-node", f"fx-op-{op}", *classes)), **attributes})
    if title:
        add_text(group, "title", title)
    _paint_shape(group, op, box, style)
    for kind, text, y in box.lines:
        add_text(group, "text", text, **{"class": f"fx-{kind}"}, x=f"{box.middle:g}", y=f"{y:g}")
    return group


def swatch(op: str, *, hue: bool = True) -> str:
    classes = f"fx-swatch fx-op-{op}" if hue else "fx-swatch"
    svg = ET.Element("svg", {"aria-hidden": "true", "class": classes, "viewBox": "0 0 34 20"})
    _paint_shape(svg, op, Box(0, 2, 2, 30, 16, (), 0), "")
    return ET.tostring(svg, encoding="unicode")


def _paint_shape(parent: ET.Element, op: str, box: Box, style: str) -> None:
    """The outline: pills for both ends, cylinders for stored tensors, double sides for modules; the rest are steps."""
    x, y, w, h = box.x, box.y, box.width, box.height
    right, bottom, middle = x + w, y + h, y + h / 2
    outline = {"class": "fx-shape", **({"style": style} if style else {})}
    match op:
        case "get_attr":
            lid = f"a{w / 2:g} {LID} 0 0 1 {w:g} 0"
            body = f"M{x:g} {y + LID:g}{lid}v{h - 2 * LID:g}a{w / 2:g} {LID} 0 0 1 -{w:g} 0z"
            ET.SubElement(parent, "path", {**outline, "d": body})
            front = f"M{x:g} {y + LID:g}a{w / 2:g} {LID} 0 0 0 {w:g} 0"
            ET.SubElement(parent, "path", {"class": "fx-inner", "d": front})
        case "call_method":
            c = min(CHAMFER, w / 4)
            upper = f"M{x:g} {middle:g}L{x + c:g} {y:g}H{right - c:g}L{right:g} {middle:g}"
            hexagon = f"{upper}L{right - c:g} {bottom:g}H{x + c:g}z"
            ET.SubElement(parent, "path", {**outline, "d": hexagon})
        case _:
            radius = {"placeholder": min(h / 2, 22), "output": min(h / 2, 22), "call_function": 8}.get(op, 1)
            rect = {"height": f"{h:g}", "rx": f"{radius:g}", "width": f"{w:g}", "x": f"{x:g}", "y": f"{y:g}"}
            ET.SubElement(parent, "rect", {**outline, **rect})
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
    element = ET.SubElement(parent, tag, attributes)
    element.text = text
    return element
