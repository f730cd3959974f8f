"""Matplotlib's axes in the style of the book, and the result as SVG for use inside a page."""

from __future__ import annotations

import contextlib
import io
import logging
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fxbook.extras import needing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLE = Path(__file__).parent.parent / "static" / "plots.mplstyle"
# The prefix of an artist's id that gives the artist a CSS class in place of its own style.
_CLASS = "class: "
_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_FAMILY = re.compile(r"(font: [^;]*?px|font-family:) [^;]+")
_NUMBER = re.compile(r"-?\d+\.\d{2,}")


class Canvas:
    """Axes to draw on, open as long as the ``with`` of :func:`canvas`."""

    def __init__(self, figure: Figure) -> None:
        self._figure = figure
        self.axes: Axes = figure.subplots()

    def svg(self) -> ET.Element:
        written = io.BytesIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        self._figure.savefig(written, format="svg", transparent=True, metadata=nothing)
        return _in_page_colours(written.getvalue())


def styled(classes: str) -> str:
    return _CLASS + classes


@contextlib.contextmanager
def canvas(width: float, height: float, margins: tuple[float, float, float, float] | None = None) -> Iterator[Canvas]:
    """Yield axes in the style of the book, whatever matplotlib's settings are.

    All lengths are in pixels at natural size. ``margins`` are left, right, bottom and top; by default they are as large
    as the texts need, which takes twice as long to draw.
    """
    # The first import may log that it is listing the machine's fonts, which takes seconds.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    with needing("plots", "A plot"):
        from matplotlib import rc_context
        from matplotlib.figure import Figure

    with rc_context(fname=_STYLE):
        # Not pyplot, which would show the figure a second time, as PNG.
        figure = Figure(figsize=(width / 72, height / 72), layout=None if margins else "constrained")
        if margins:
            left, right, bottom, top = margins
            figure.subplots_adjust(left / width, bottom / height, 1 - right / width, 1 - top / height)
        yield Canvas(figure)


def without_references(svg: ET.Element) -> ET.Element:
    """Minify an ``<svg>`` and remove its ids, so that a page may contain it many times.

    Raises:
        ValueError: something in it is drawn by reference, such as ticks and markers.
    """
    for part in list(svg.iter()):
        for name in ("clip-path", "id"):
            part.attrib.pop(name, None)
        # Matplotlib indents its output, and rotates texts by 0 degrees.
        part.text, part.tail = (part.text or "").strip(), ""
        if part.get("transform", "").startswith("rotate(-0 "):
            del part.attrib["transform"]
        if "d" in part.attrib:
            part.set("d", " ".join(part.attrib["d"].split()))
        for child in list(part):
            if child.tag == "use":
                raise ValueError("a chart without references has no ticks and no markers: switch them off")
            if child.tag == "defs":
                part.remove(child)
    return svg


def _in_page_colours(written: bytes) -> ET.Element:
    """The ``<svg>`` that matplotlib wrote, adapted to a page.

    Black becomes the colour of the surrounding text, fonts become the page's, and whatever would affect the rest of the
    page (a style sheet, namespaces) is removed.
    """
    root = ET.fromstring(written)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == f"{_SVG}metadata" or (
                child.tag == f"{_SVG}defs" and child.find(f"{_SVG}style") is not None
            ):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        if _LINK in element.attrib:
            element.set("href", element.attrib.pop(_LINK))
        for name, value in element.attrib.items():
            if name in ("style", "fill", "stroke"):
                value = _FAMILY.sub(r"\1 inherit", value.replace("#000000", "currentColor"))
            if name not in ("id", "href", "clip-path"):
                value = _NUMBER.sub(lambda found: f"{float(found[0]):.1f}", value)
            element.set(name, value)
    for group in root.iter("g"):
        if group.get("id", "").startswith(_CLASS):
            group.set("class", group.attrib.pop("id").removeprefix(_CLASS))
            for part in group.iter():
                part.attrib.pop("style", None)
    width, height = root.get("viewBox", "").split()[-2:]
    root.attrib = {
        "class": "fx-plot",
        "fill": "currentColor",
        "role": "img",
        "stroke-linejoin": "round",
        "style": f"display:block;font-family:system-ui,sans-serif;max-width:{width}px;min-width:{width}px",
        "viewBox": f"0 0 {width} {height}",
        "xmlns": "http://www.w3.org/2000/svg",
    }
    return root
