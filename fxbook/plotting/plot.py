"""Draw with matplotlib and show it as SVG: the same bytes each time, in the page's own colours, with a text to read."""

from __future__ import annotations

import contextlib
import copy
import html
import io
import logging
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fxbook.drawing import style
from fxbook.drawing.display import next_prefix
from fxbook.drawing.lettering import clean, wrap
from fxbook.drawing.paint import add_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 560
"""Pixels at natural size: text is never shrunk, so a narrower page scrolls the plot."""
# Okabe-Ito, the darkest beside the lightest: two series differ in grey too.
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7")
# Black stands for the colour of the page's text: see _in_page_colours.
STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "axes.linewidth": 1.0,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "none",
    # Comes with matplotlib, so that the layout is the same on every machine.
    "font.family": "DejaVu Sans",
    "font.size": 12.5,
    "grid.alpha": 0.3,
    "grid.color": "black",
    "hatch.linewidth": 0.8,
    "legend.frameon": False,
    "lines.linewidth": 2.4,
    "patch.edgecolor": "black",
    "patch.force_edgecolor": True,
    "patch.linewidth": 1.0,
    "svg.fonttype": "none",
    "svg.hashsalt": "fxbook",
}
_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_FAMILY = re.compile(r"(font: [^;]*?px|font-family:) [^;]+")
_NUMBER = re.compile(r"-?\d+\.\d{2,}")


class Plot:
    """What was drawn, as SVG; displays by itself, and as text it is its title and what it says."""

    def __init__(self, svg: ET.Element, title: str, says: str) -> None:
        self._svg = svg
        self.title = title
        self.says = says

    def __repr__(self) -> str:
        return "\n".join([*wrap(self.title, 100, 2), *wrap(self.says, 100, 40)])

    def _repr_html_(self) -> str:
        prefix = next_prefix()
        svg = _with_ids(self._svg, prefix)
        svg.set("aria-labelledby", f"{prefix}-title {prefix}-desc")
        svg.insert(0, add_text(ET.Element("g"), "desc", self.says, id=f"{prefix}-desc"))
        svg.insert(0, add_text(ET.Element("g"), "title", self.title, id=f"{prefix}-title"))
        title = html.escape(self.title)
        return (
            f'<div class="fx-drawing"><style>{style()}</style><figure>'
            f'<figcaption class="fx-caption">{title}</figcaption>'
            f'<div class="fx-scroll" aria-label="{title}" role="group" tabindex="0">'
            f"{ET.tostring(svg, encoding='unicode')}</div></figure></div>"
        )


@contextlib.contextmanager
def plot(title: str, says: str, height: float = 300) -> Iterator[Axes]:
    """Give matplotlib's axes to the body of the ``with``, and show what it drew on them when it ends.

    Args:
        title: the caption.
        says: what the plot shows, in sentences with its numbers, for those who do not see it.
        height: pixels at natural size.

    Raises:
        ValueError: ``says`` is empty.
    """
    if not says.strip():
        raise ValueError("says: write what the plot shows, for those who do not see it")
    # Its first import may log, for seconds, that it lists the fonts of the machine.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    from matplotlib import cycler, rc_context
    from matplotlib.figure import Figure

    with rc_context({**STYLE, "axes.prop_cycle": cycler(color=PALETTE)}):
        # Not pyplot, which would show the figure a second time, as PNG.
        figure = Figure(figsize=(WIDTH / 72, height / 72), layout="constrained")
        yield figure.subplots()
        written = io.BytesIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(written, format="svg", transparent=True, metadata=nothing)
    from IPython.display import display

    display(Plot(_in_page_colours(written.getvalue()), clean(title, 200), clean(says, 4000)))


def _in_page_colours(written: bytes) -> ET.Element:
    """The ``<svg>`` that matplotlib wrote, fit to stand inside a page.

    Black becomes the colour of the text around it, fonts become the page's, and what would reach beyond the plot (a
    style sheet, names of namespaces) is left out.
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
    height = root.get("viewBox", "").split()[-1]
    root.attrib = {
        "class": "fx-plot",
        "fill": "currentColor",
        "role": "img",
        "stroke-linejoin": "round",
        "style": f"display:block;font-family:system-ui,sans-serif;max-width:{WIDTH}px;min-width:{WIDTH}px",
        "viewBox": f"0 0 {WIDTH} {height}",
        "xmlns": "http://www.w3.org/2000/svg",
    }
    return root


def _with_ids(svg: ET.Element, prefix: str) -> ET.Element:
    """A copy in which only what is referred to has an id, and each begins with ``prefix``, as a page asks."""
    shown = copy.deepcopy(svg)
    names: dict[str, str] = {}

    def renamed(name: str) -> str:
        return names.setdefault(name, f"{prefix}-{len(names)}")

    for element in shown.iter():
        for key, value in element.attrib.items():
            if key == "href":
                element.set(key, "#" + renamed(value.removeprefix("#")))
            else:
                element.set(key, _REFERENCE.sub(lambda found: f"url(#{renamed(found[1])})", value))
    for element in shown.iter():
        if "id" in element.attrib:
            own = element.attrib.pop("id")
            if own in names:
                element.set("id", names[own])
    return shown
