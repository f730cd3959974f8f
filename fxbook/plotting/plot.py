"""Draw with matplotlib and show it as SVG: always the same bytes, in the page's colours, with a text alternative."""

from __future__ import annotations

import contextlib
import copy
import html
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fxbook.drawing import style
from fxbook.drawing.display import next_prefix
from fxbook.drawing.image import framed
from fxbook.drawing.lettering import clean, wrap
from fxbook.drawing.paint import add_text
from fxbook.plotting.canvas import canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 560
"""The width in pixels at natural size: text is never shrunk, so a narrower page scrolls the plot."""
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


class Plot:
    """A drawing as SVG; it displays by itself, and as text it is its title and description."""

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
        width, height = map(float, svg.get("viewBox", "").split()[2:])
        title = html.escape(self.title)
        reach = f' aria-label="{title}" role="group" tabindex="0"'
        return (
            f'<div class="fx-drawing"><style>{style()}</style><figure>'
            f'<figcaption class="fx-caption">{title}</figcaption>'
            f"{framed(svg, width, height, self.title, reach)}</figure></div>"
        )


@contextlib.contextmanager
def plot(title: str, says: str, height: float = 300) -> Iterator[Axes]:
    """Yield matplotlib's axes to the body of the ``with``, and show the drawing when it ends.

    Args:
        title: the caption.
        says: what the plot shows, in sentences with its numbers, for readers who do not see it.
        height: in pixels at natural size.

    Raises:
        ValueError: ``says`` is empty.
    """
    if not says.strip():
        raise ValueError("says: write what the plot shows, for those who cannot see it")
    with canvas(WIDTH, height) as drawn:
        yield drawn.axes
        svg = drawn.svg()
    from IPython.display import display

    display(Plot(svg, clean(title, 200), clean(says, 4000)))


def _with_ids(svg: ET.Element, prefix: str) -> ET.Element:
    """A copy in which only referenced elements have an id, each beginning with ``prefix``."""
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
