"""Self-contained SVG plots for a class: columns drawn by matplotlib, and bars that fill the available width.

Hatching tells the statuses apart in greyscale. The reports' style sheet gives the CSS classes used here the colours of
:mod:`fxbook.plotting`, for light mode, dark mode and paper.
"""

from __future__ import annotations

import dataclasses
import itertools
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from classroom.grade.records import Status
from classroom.reports.wording import SHORT, number
from fxbook.plotting.canvas import canvas, styled, without_references

_BAR = 24
# The natural size of a plot in pixels, and its margins: left, right, bottom, top.
_WIDTH, _HEIGHT, _MARGINS = 352, 208, (2, 2, 40, 20)
_PATTERNS = {
    "public": (8, "M-2 2L2 -2M0 8L8 0M6 10L10 6"),
    "failed": (6, "M-1 5L1 7M0 0L6 6M5 -1L7 1M0 6L6 0"),
    "missing": (8, "M2 4h2"),
    "unreadable": (6, "M3 0V6"),
    "error": (6, "M0 3H6"),
}
# A narrower bar, in per cent of the width, has no room for a number.
_NARROW = 4.5


@dataclasses.dataclass(frozen=True)
class Column:
    """A column: the label below it, and the count for each status or for ``"students"``."""

    label: str
    heights: Mapping[str, int]


def patterns() -> Markup:
    """The definitions of the hatches; needed once per page."""
    svg = ET.Element("svg", {"aria-hidden": "true", "class": "patterns", "height": "0", "width": "0"})
    for status, (size, path) in _PATTERNS.items():
        box = {"height": str(size), "id": f"hatch-{status}", "patternUnits": "userSpaceOnUse", "width": str(size)}
        pattern = ET.SubElement(svg, "pattern", box)
        ET.SubElement(pattern, "rect", {"class": f"ground {status}", "height": str(size), "width": str(size)})
        ET.SubElement(pattern, "path", {"class": f"stroke {status}", "d": path})
    return _text(svg)


def swatch(status: Status) -> Markup:
    svg = ET.Element("svg", {"aria-hidden": "true", "class": "swatch", "height": "14", "width": "22"})
    _block(svg, status, {"height": "13", "width": "21", "x": "0.5", "y": "0.5"})
    return _text(svg)


def stacked_bar(statuses: Mapping[Status, int]) -> Markup:
    whole = sum(statuses.values())
    svg = ET.Element("svg", {"aria-label": in_words(statuses), "class": "bar", "height": str(_BAR), "role": "img"})
    start = 0.0
    for status in SHORT:
        share = 100 * statuses[status] / whole if whole else 0.0
        if share:
            _block(svg, status, {"height": f"{_BAR - 2}", "width": f"{share:.2f}%", "x": f"{start:.2f}%", "y": "1"})
        if share >= _NARROW:
            _number(svg, statuses[status], status, f"{start + share / 2:.2f}%", _BAR / 2 + 4.5)
        start += share
    return _text(svg)


def columns(title: str, below: str, bars: Sequence[Column], key: str = "") -> Markup:
    """Draw columns with their numbers above them; ``below`` labels the axis, ``key`` is a legend."""
    tops = [0] * len(bars)
    with canvas(_WIDTH, _HEIGHT, _MARGINS) as drawn:
        axes = drawn.axes
        for status in dict.fromkeys(status for bar in bars for status in bar.heights):
            for at, bar in enumerate(bars):
                if many := bar.heights.get(status, 0):
                    axes.bar(at, many, 0.72, bottom=tops[at], gid=styled(f"block {status}"))
                    tops[at] += many
        for at, top in enumerate(tops):
            if top:
                axes.annotate(str(top), (at, top), (0, 3), textcoords="offset points", ha="center")
        axes.set(xlabel=below, xlim=(-0.5, len(bars) - 0.5), ylim=(0, max(tops, default=0) or 1))
        axes.set_xticks(range(len(bars)), labels=[bar.label for bar in bars])
        # The numbers replace ticks, which would be drawn by reference.
        axes.tick_params(bottom=False, left=False, labelleft=False)
        axes.spines["left"].set_visible(False)
        svg = without_references(drawn.svg())
    says = f"{title}. {below}: " + "; ".join(f"{bar.label}: {in_words(bar.heights)}" for bar in bars) + "."
    svg.attrib |= {"aria-label": says, "class": "columns", "style": f"max-width:{_WIDTH}px"}
    return Markup("<figure><figcaption>{}</figcaption>{}{}</figure>").format(title, _text(svg), key)


def in_words(statuses: Mapping[Any, int]) -> str:
    """``12 passed, 3 not yet``."""
    return ", ".join(f"{many} {SHORT.get(status, status)}" for status, many in statuses.items() if many) or "none"


def spread(values: Sequence[float], highest: float) -> list[Column]:
    """Count students by their points, in ranges of equal width from 0 to ``highest``."""
    most = 8 if highest < 100 else 6
    width = max(1.0, -(-highest // most)) if highest > 1 else max(highest, 1.0) / 4
    bins = max(1, round(-(-highest // width)))
    counts = [0] * bins
    for value in values:
        counts[min(max(int(value // width), 0), bins - 1)] += 1
    edges = [at * width for at in range(bins)] + [highest]
    labels = [f"{number(low)}\N{EN DASH}{number(high)}" for low, high in itertools.pairwise(edges)]
    return [Column(label, {"students": many}) for label, many in zip(labels, counts, strict=True)]


def _block(svg: ET.Element, status: str, box: dict[str, str]) -> None:
    ET.SubElement(svg, "rect", {"class": f"block {status}", **box})


def _number(svg: ET.Element, many: int, status: Status, x: str, y: float) -> None:
    # A number on a hatch needs a plain background.
    if status != "passed":
        half = 4.0 * len(str(many)) + 3
        place = {"height": "16", "width": f"{2 * half:g}", "y": f"{y - 12.5:g}"}
        ET.SubElement(
            svg, "rect", {"class": "ground-for-number", "x": x, **place, "transform": f"translate(-{half:g})"}
        )
    ET.SubElement(svg, "text", {"class": f"number {status}", "x": x, "y": f"{y:.1f}"}).text = str(many)


def _text(svg: ET.Element) -> Markup:
    return Markup(ET.tostring(svg, encoding="unicode"))
