"""Steppers and drawings without a script: of a stepper at most four frames, two by two, each a picture of its own."""

from __future__ import annotations

import copy
import itertools
import re

from lxml import etree

from press.paper.markup import E, classes, drop, find, of_class, replace, text

AT_MOST = 4
"""Frames of one stepper that are shown, at most."""
# What a row of a table says of its node: an edit, a fault, an error while it ran.
_SAID = ("added", "broken", "changed", "is-raised", "moved", "removed", "renamed", "retargeted", "rewired")
_MARKS = {f"fx-{mark}" for mark in _SAID}
_PART = re.compile(r"visibility:\s*var\((--f\d+),\s*hidden\)")
_SHOWN = re.compile(r"(--f\d+):\s*visible")
COLUMN, WIDEST, TALLEST = 330, 686, 600
"""What drawings may take, in pixels: in width one column of the PDF or both, in height a part of a page."""
_HALF, _DRAWING = (COLUMN - 8) / 2, "drawing"
# Of its size on a screen a drawing has this much at most. It is as large as keeps it low, so that few columns end
# before a picture that does not fit any more, but never so small that its text is smaller than 5 points.
_LARGEST, _LOW, _LEGIBLE = 0.8, 400, 0.54


def still(tree: etree._Element) -> None:
    """Turn each stepper below the tree into small multiples, and give each drawing its size."""
    for stepper in of_class(tree, "fx-stepper"):
        _multiples(stepper)
    for drawing in of_class(tree, "fx-drawing"):
        if "fx-stepper" not in classes(drawing):
            _in_a_column(drawing)


def chosen(frames: list[etree._Element]) -> list[int]:
    """The numbers of the frames to show: the first, the last, and of the others those in which most is marked.

    Where several have as many marks, those that divide the way evenly.
    """
    count = len(frames)
    if count <= AT_MOST:
        return list(range(count))
    marked = [sum(bool(_MARKS & set(classes(row))) for row in find(frame, ".//h:tr")) for frame in frames]

    def worth(inner: tuple[int, ...]) -> tuple[int, int]:
        ways = [after - before for before, after in itertools.pairwise([0, *inner, count - 1])]
        return sum(marked[at] for at in inner), min(ways) - max(ways)

    return [0, *max(itertools.combinations(range(1, count - 1), AT_MOST - 2), key=worth), count - 1]


def _multiples(stepper: etree._Element) -> None:
    films = {g.get("id"): g for g in find(stepper, ".//s:defs/s:g")}
    for earlier in of_class(stepper, "fx-earlier"):
        replace(earlier, of_class(earlier, "fx-frame"))
    # The picture for viewers that take no drawing.
    for image in of_class(stepper, "fx-still", "h:img"):
        drop(image)
    frames = of_class(stepper, "fx-frame")
    shown = chosen(frames)
    _between(frames, shown)
    frames = [frames[at] for at in shown]
    for svg in (svg for frame in frames for svg in find(frame, ".//s:svg[s:use]")):
        _resolve(svg, films)
    below = _below(frames)
    _fit(frames)
    _in_rows(stepper, frames)
    if below:
        find(stepper, "./*[@class='fx-frames']")[0].addnext(E.div({"class": "fx-below"}, *below))
    for defs in of_class(stepper, "fx-films"):
        drop(defs)
    stepper.set("class", "fx-drawing fx-stepper fx-multiples")
    for name in ("style", "tabindex", "data-lm-suppress-shortcuts"):
        stepper.attrib.pop(name, None)
    for reach in find(stepper, ".//*[@tabindex]"):
        reach.attrib.pop("tabindex")


def _below(frames: list[etree._Element]) -> list[etree._Element]:
    """Take all panels but the drawing out of the frames; return those that stand below them, wide enough to be read.

    A drawing tells the order, the names, the calls and what happened to each node, so the tables beside it go. The code
    is there for each frame in which it is another one than before, and a plot that all frames share for the last one.
    """
    kept: list[etree._Element] = []
    code = ""
    for frame in frames:
        drawing, *others = sorted(of_class(frame, "fx-panel"), key=lambda panel: panel.get("data-fx-panel") != _DRAWING)
        drawing.attrib.pop("style", None)
        for panel in others:
            drop(panel)
            panel.attrib.pop("style", None)
            lines = "".join(text(line) for line in of_class(panel, "fx-code"))
            plotted = frame is frames[-1] and find(panel, ".//s:svg")
            if plotted or (lines and lines != code):
                code = lines or code
                _say_of(panel, frame)
                kept.append(panel)
    return kept


def _say_of(panel: etree._Element, frame: etree._Element) -> None:
    """Name the frame that a panel was taken from."""
    for number in of_class(frame, "fx-count"):
        for heading in of_class(panel, "fx-heading"):
            heading.text = f"{text(number)} \N{MIDDLE DOT} {heading.text or ''}"
    for svg in find(panel, ".//s:svg[@viewBox]"):
        _set(svg, _scale(svg, COLUMN))


def _drawings(frames: list[etree._Element]) -> list[etree._Element]:
    return [svg for frame in frames for film in of_class(frame, "fx-film") for svg in find(film, ".//s:svg[@viewBox]")]


def _beside(frames: list[etree._Element]) -> int:
    """How many frames stand beside each other in a column: two, unless nobody could read their pictures then."""
    widest = max((_size(svg)[0] for svg in _drawings(frames)), default=0.0)
    return 2 if len(frames) > 1 and widest * _LEGIBLE <= _HALF else 1


def _fit(frames: list[etree._Element]) -> None:
    """Give all drawings the one scale in which they stand on paper."""
    room = _HALF if _beside(frames) == 2 else COLUMN
    drawings = _drawings(frames)
    scale = min((_scale(svg, room) for svg in drawings), default=1.0)
    for svg in drawings:
        _set(svg, scale)


def _in_rows(stepper: etree._Element, frames: list[etree._Element]) -> None:
    """Put the frames that stand beside each other into one element, the first with the title, which no page divides."""
    [around] = find(stepper, "./*[@class='fx-frames']")
    beside = _beside(frames)
    rows = [frames[at : at + beside] for at in range(0, len(frames), beside)]
    rows = [E.div({"class": f"fx-abreast fx-abreast-{beside}"}, *row) for row in rows]
    around[:] = [E.div({"class": "fx-begin"}, *find(stepper, "./h:p[@class='fx-title']"), rows[0]), *rows[1:]]


def _scale(svg: etree._Element, room: float) -> float:
    width, height = _size(svg)
    return min(_LARGEST, room / width, max(_LEGIBLE, _LOW / height), TALLEST / height)


def _set(svg: etree._Element, scale: float) -> None:
    width, height = _size(svg)
    svg.set("style", f"width:{width * scale:.0f}px;height:{height * scale:.0f}px")


def _resolve(svg: etree._Element, films: dict[str, etree._Element]) -> None:
    """Put the visible part of the film in place of what points to it."""
    [use] = find(svg, "./s:use")
    film = films[(use.get("href") or use.get("{http://www.w3.org/1999/xlink}href")).removeprefix("#")]
    visible = set(_SHOWN.findall(svg.get("style", "")))
    picture = copy.deepcopy(film)
    picture.attrib.pop("id", None)
    for part in find(picture, ".//*[@style]"):
        if found := _PART.fullmatch(part.get("style").strip()):
            if found[1] in visible:
                del part.attrib["style"]
            else:
                drop(part)
    replace(use, [picture])
    svg.attrib.pop("style", None)


def _size(svg: etree._Element) -> tuple[float, float]:
    _, _, width, height = map(float, svg.get("viewBox").split())
    return width, height


def _between(frames: list[etree._Element], shown: list[int]) -> None:
    """Of the frames that are not shown, what each says, above the next one that is."""
    waiting: list[etree._Element] = []
    for at, frame in enumerate(frames):
        if at in shown:
            if waiting:
                [head] = of_class(frame, "fx-head")[:1]
                head.insert(0, E.ul({"class": "fx-between"}, *waiting))
            waiting = []
            continue
        [caption] = of_class(frame, "fx-caption")[:1]
        waiting.append(E.li(text(caption)))
        drop(frame)


def _in_a_column(drawing: etree._Element) -> None:
    """Make a drawing as wide as one column of the PDF, unless nobody could read it then."""
    for svg in find(drawing, ".//*[@class='fx-scroll']/s:svg[@viewBox]"):
        narrow = _size(svg)[0] * _LEGIBLE <= COLUMN
        _set(svg, _scale(svg, COLUMN if narrow else WIDEST))
        if not narrow:
            drawing.set("class", " ".join([*classes(drawing), "fx-across"]))
    for reach in find(drawing, ".//*[@tabindex]"):
        reach.attrib.pop("tabindex")
