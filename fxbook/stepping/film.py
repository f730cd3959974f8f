"""One SVG drawing that all frames share: it is stored once, and each frame shows its part of it.

The drawing stands in the ``<defs>`` of an empty svg. An element that is not always visible has
``visibility:var(--f3,hidden)``, and a frame shows ``<use>`` of the drawing with ``--f3:visible`` in its style, since
custom properties reach into ``<use>``. Elements that appear and disappear together share a property.
"""

from __future__ import annotations

import html
import xml.etree.ElementTree as ET
from collections.abc import Iterable


class Film:
    """A drawing of ``frames`` frames; build it below ``root``, without ids."""

    def __init__(self, width: float, height: float, frames: int, label: str, min_x: float = 0) -> None:
        """Lengths are pixels at natural size; ``label`` is what a screen reader says of the drawing in any frame."""
        self.width, self.height, self.frames, self.min_x = width, height, frames, min_x
        # What is drawn by <use> matches no selector that starts outside it.
        self.root = ET.Element("g", {"class": "fx-svg"})
        self._labels = [label] * frames
        self._properties: dict[frozenset[int], str] = {}

    def show(self, element: ET.Element, frames: Iterable[int]) -> None:
        """Show the element in these frames only. Do not nest elements given here: the inner one decides alone."""
        visible = frozenset(frames)
        if len(visible) == self.frames:
            return
        name = self._properties.setdefault(visible, f"--f{len(self._properties)}")
        element.set("style", f"visibility:var({name},hidden)")

    def label(self, frame: int, text: str) -> None:
        """What a screen reader says of the drawing in this frame."""
        self._labels[frame] = text

    def definition(self, identity: str) -> str:
        """The drawing itself, to stand once in the page; it takes no room."""
        self.root.set("id", identity)
        drawn = ET.tostring(self.root, encoding="unicode")
        return f'<svg class="fx-svg fx-defs" width="0" height="0" aria-hidden="true"><defs>{drawn}</defs></svg>'

    def picture(self, identity: str, frame: int) -> str:
        """The drawing as it is in a frame."""
        shown = "".join(f";{name}:visible" for visible, name in self._properties.items() if frame in visible)
        # Never enlarged; never so small that text is hard to read: then it scrolls.
        style = f"max-width:{self.width:g}px;min-width:{self.width * 0.96:g}px{shown}"
        return (
            f'<svg class="fx-svg" role="img" aria-label="{html.escape(self._labels[frame])}"'
            f' viewBox="{self.min_x:g} 0 {self.width:g} {self.height:g}"'
            f' style="{style}"><use href="#{identity}"/></svg>'
        )
