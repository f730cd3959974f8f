"""One SVG drawing for all frames: it is stored once, and each frame shows a part of it.

The drawing is in the ``<defs>`` of an empty svg. An element that is not always visible has
``visibility:var(--f3,hidden)``, and a frame shows ``<use>`` of the drawing with ``--f3:visible`` in its style, since
custom properties reach into ``<use>``. Elements that appear and disappear together share a property. An element that
moves has ``transform:translateY(var(--y1,0px))``, and each frame sets ``--y1``.
"""

from __future__ import annotations

import copy
import html
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence

from fxbook.drawing.image import image


class Animation:
    """A drawing with several frames; build it below ``root``, without ids."""

    def __init__(self, width: float, height: float, frames: int, label: str, min_x: float = 0) -> None:
        """Lengths are in pixels at natural size; ``label`` is what a screen reader reads out for every frame."""
        self.width, self.height, self.frames, self.min_x = width, height, frames, min_x
        # Selectors that start outside <use> do not match what is inside.
        self.root = ET.Element("g", {"class": "fx-svg"})
        self._labels = [label] * frames
        self._properties: dict[frozenset[int], str] = {}
        self._slides: dict[tuple[float, ...], str] = {}

    def show(self, element: ET.Element, frames: Iterable[int]) -> None:
        """Show the element in these frames only. Do not nest such elements, since the inner one ignores the outer."""
        visible = frozenset(frames)
        if len(visible) == self.frames:
            return
        name = self._properties.setdefault(visible, f"--f{len(self._properties)}")
        element.set("style", f"visibility:var({name},hidden)")

    def slide(self, element: ET.Element, offsets: Sequence[float]) -> None:
        """Move the element down, by the given number of pixels in each frame."""
        if any(offsets):
            name = self._slides.setdefault(tuple(offsets), f"--y{len(self._slides)}")
            element.attrib |= {"class": "fx-slide", "style": f"transform:translateY(var({name},0px))"}

    def label(self, frame: int, text: str) -> None:
        self._labels[frame] = text

    def definition(self, identity: str) -> str:
        """The drawing itself, which is in the page only once and takes up no room."""
        self.root.set("id", identity)
        drawn = ET.tostring(self.root, encoding="unicode")
        return f'<svg class="fx-svg fx-defs" width="0" height="0" aria-hidden="true"><defs>{drawn}</defs></svg>'

    def still(self, frame: int) -> str:
        """A frame as an ``<img>``, for viewers that remove svg and style."""
        moved = {f"transform:translateY(var({name},0px))": by[frame] for by, name in self._slides.items()}
        hidden = {f"visibility:var({name},hidden)" for seen, name in self._properties.items() if frame not in seen}
        drawn = copy.deepcopy(self.root)
        for parent in list(drawn.iter()):
            for child in [child for child in parent if child.get("style") in hidden]:
                parent.remove(child)
        for element in drawn.iter():
            for name in [name for name in element.attrib if name.startswith("data-")]:
                del element.attrib[name]
            style_of = element.get("style", "")
            if style_of.startswith("visibility:var(") or style_of in moved:
                del element.attrib["style"]
            if style_of in moved:
                element.attrib |= {"transform": f"translate(0 {moved[style_of]:g})"}
                del element.attrib["class"]
        return image(drawn, self.min_x, self.width, self.height, self._labels[frame])

    def picture(self, identity: str, frame: int) -> str:
        shown = "".join(f";{name}:visible" for visible, name in self._properties.items() if frame in visible)
        shown += "".join(f";{name}:{by[frame]:g}px" for by, name in self._slides.items() if by[frame])
        # The picture is never enlarged, and never so small that text is hard to read; it scrolls instead.
        style = f"max-width:{self.width:g}px;min-width:{self.width * 0.96:g}px{shown}"
        return (
            f'<svg class="fx-svg" role="img" aria-label="{html.escape(self._labels[frame])}"'
            f' viewBox="{self.min_x:g} 0 {self.width:g} {self.height:g}"'
            f' style="{style}"><use href="#{identity}"/></svg>'
        )
