"""A drawing as an ``<img>``, dark on white, for viewers of untrusted notebooks: they remove svg and style."""

from __future__ import annotations

import copy
import functools
import html
import re
import urllib.parse
import xml.etree.ElementTree as ET
from pathlib import Path

HIDDEN = 'style="display:none"'
"""The inline style of parts that only trusted notebooks show: viewers that remove style elements often keep it."""
_STATIC = Path(__file__).parent.parent / "static"
_EVERYWHERE = {"fx-svg", "fx-node", "fx-edge", "fx-rail", "fx-shape", "fx-inner", "fx-name", "fx-word"}
"""Classes that do not decide whether a rule is needed."""
_OF_THE_SVG = ("aria-labelledby", "role", "viewBox", "xmlns")
_FOR_READERS = ("title", "desc")


def image(drawing: ET.Element, left: float, width: float, height: float, label: str) -> str:
    """The drawing with the style rules that it needs, as an ``<img>`` that the page's own style hides.

    Args:
        drawing: an ``<svg>`` or a part of one; its titles, descriptions and unused ids are left out.
        left: where the drawing starts, in pixels at natural size, as are its width and height.
        label: the alternative text.
    """
    drawn = copy.deepcopy(drawing)
    drawn.tag = "g"
    for name in _OF_THE_SVG:
        drawn.attrib.pop(name, None)
    for parent in list(drawn.iter()):
        for child in [child for child in parent if child.tag in _FOR_READERS]:
            parent.remove(child)
    text = ET.tostring(drawn, encoding="unicode")
    for element in drawn.iter():
        if f"#{element.get('id')}" not in text:
            element.attrib.pop("id", None)
    inner = ET.tostring(drawn, encoding="unicode").replace('"', "'")
    wide, high = f"{width + 8:g}", f"{height + 8:g}"
    svg = (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{wide}' height='{high}'"
        f" viewBox='{left - 4:g} -4 {wide} {high}' style='background:#fff;color:#1f2730'>"
        f"<style>{_needed(inner)}</style>{inner}</svg>"
    )
    address = urllib.parse.quote(svg, safe=" !$'()*,-./:;=?@[]^_`{|}~")
    return f'<img class="fx-still" alt="{html.escape(label)}" width="{wide}" src="data:image/svg+xml,{address}"/>'


def framed(svg: ET.Element, width: float, height: float, label: str, reach: str = "") -> str:
    """The drawing for a trusted notebook, and the image that replaces it in an untrusted one.

    ``reach`` is the attributes that let the keyboard scroll a wide drawing.
    """
    drawn = ET.tostring(svg, encoding="unicode")
    return f'<div class="fx-scroll"{reach} {HIDDEN}>{drawn}</div>{image(svg, 0, width, height, label)}'


def _needed(drawing: str) -> str:
    there = set(re.findall(r"fx-[\w-]+", drawing))
    needed = []
    for line in _rules():
        named = set(re.findall(r"\.(fx-[\w-]+)", line.partition("{")[0]))
        if named and (named <= there or (named - _EVERYWHERE) & there):
            needed.append(line.replace('"', "'"))
    return "".join(needed)


@functools.cache
def _rules() -> list[str]:
    """The style of all drawings, one rule per line."""
    names = ("drawing.css", "film.css")
    return [line for name in names for line in (_STATIC / name).read_text(encoding="utf-8").splitlines()]
