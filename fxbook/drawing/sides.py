"""Draw everything that a program can do, with what tracing did not record in grey."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection

from torch import fx

from fxbook.drawing.display import MARK_LEGEND, Drawing
from fxbook.drawing.still import View
from fxbook.graph.record import record

_LEFT_OUT = "left out"
_GREY = (
    ".fx-sides .fx-removed .fx-shape{fill:#808080;fill-opacity:.22;stroke-opacity:.6}"
    ".fx-sides .fx-removed .fx-word{font-weight:700}"
)


class Sides(Drawing):
    """A drawing by data flow whose grey, dashed nodes are not in the traced graph."""

    def __init__(self, program: fx.Graph, left_out: Collection[fx.Node], title: str) -> None:
        """Draw ``program``, a handmade graph of everything that the program can do, with unrecorded nodes in grey."""
        grey = [at for at, node in enumerate(program.nodes) if node in left_out]
        super().__init__(record(program), title, dict.fromkeys(grey, ("removed",)), order="data")
        self.words |= {at: [_LEFT_OUT] for at in grey}

    def _legend(self) -> list[str]:
        old, new = MARK_LEGEND["removed"], f"grey and dashed: {_LEFT_OUT} of the traced graph"
        return [new if text == old else text for text in super()._legend()]

    def _svg(self, prefix: str, description: str, view: View | None = None) -> ET.Element:
        svg = super()._svg(prefix, description, view)
        svg.set("class", "fx-svg fx-sides")
        # Inside the svg, the style also reaches the image for untrusted notebooks.
        ET.SubElement(svg, "style").text = _GREY
        return svg
