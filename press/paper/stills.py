"""Steppers and drawings without a script: of a stepper at most four frames side by side, each a picture of its own."""

from __future__ import annotations

import copy
import itertools
import re

from lxml import etree

from press.paper.markup import E, drop, find, of_class, replace, text

AT_MOST = 4
"""Frames of one stepper that are shown, at most: as many as fit beside each other."""
_PART = re.compile(r"visibility:\s*var\((--f\d+),\s*hidden\)")
_SHOWN = re.compile(r"(--f\d+):\s*visible")
WIDEST, TALLEST, LARGEST = 686, 600, 0.62
"""What drawings may take: pixels in width, all that stand beside each other, and in height; and of their size on a screen."""
_GAP = 10


def still(tree: etree._Element) -> None:
    """Turn each stepper below the tree into small multiples, and set each drawing beside its table."""
    for stepper in of_class(tree, "fx-stepper"):
        _multiples(stepper)
    for drawing in of_class(tree, "fx-drawing"):
        if drawing.get("class") == "fx-drawing":
            _beside_its_table(drawing)


def chosen(frames: list[etree._Element]) -> list[int]:
    """The numbers of the frames to show: the first, the last, and of the others those that change most.

    Where several change as much as each other, those that divide the way evenly.
    """
    count = len(frames)
    if count <= AT_MOST:
        return list(range(count))
    said = [_said(frame) for frame in frames]
    changes = [0, *(len(now ^ before) for before, now in itertools.pairwise(said))]

    def worth(inner: tuple[int, ...]) -> tuple[int, float]:
        stops = [0, *inner, count - 1]
        uneven = max(b - a for a, b in itertools.pairwise(stops)) - min(b - a for a, b in itertools.pairwise(stops))
        return sum(changes[at] for at in inner), -uneven

    return [0, *max(itertools.combinations(range(1, count - 1), AT_MOST - 2), key=worth), count - 1]


def _said(frame: etree._Element) -> frozenset[str]:
    """The rows of the tables and of the code of a frame, each with its marks."""
    rows = [*find(frame, ".//h:tr"), *of_class(frame, "fx-row")]
    return frozenset(f"{row.get('class', '')} {text(row)}" for row in rows)


def _multiples(stepper: etree._Element) -> None:
    films = {g.get("id"): g for g in find(stepper, ".//s:defs/s:g")}
    frames = of_class(stepper, "fx-frame")
    shown = chosen(frames)
    _between(frames, shown)
    code = ""
    for at in shown:
        for panel in of_class(frames[at], "fx-panel"):
            panel.attrib.pop("style", None)
            code = _kept(panel, code, last=at == shown[-1])
    for at in shown:
        for svg in find(frames[at], ".//s:svg[s:use]"):
            _resolve(svg, films)
    _fit([frames[at] for at in shown])
    for defs in of_class(stepper, "fx-defs"):
        drop(defs)
    columns = _columns([frames[at] for at in shown])
    stepper.set("class", f"fx-drawing fx-stepper fx-still fx-columns-{columns}")
    for name in ("style", "tabindex", "data-lm-suppress-shortcuts"):
        stepper.attrib.pop(name, None)
    for reach in find(stepper, ".//*[@tabindex]"):
        reach.attrib.pop("tabindex")


def _kept(panel: etree._Element, code: str, *, last: bool) -> str:
    """Leave out of a panel what its drawing says too; return the code that was shown last.

    The drawing tells the order, the names, the calls and what happened to each node, so the table beside it goes. The
    code stands where it is another one than before, and a plot that all frames share stands in the last one.
    """
    if "fx-film" in panel.get("class", ""):
        return code
    if of_class(panel, "fx-code"):
        now = text(panel)
        if now == code:
            drop(panel)
        return now
    if not last or not find(panel, ".//s:svg"):
        drop(panel)
    return code


def _drawings(frames: list[etree._Element]) -> list[etree._Element]:
    return [svg for frame in frames for film in of_class(frame, "fx-film") for svg in find(film, ".//s:svg[@viewBox]")]


def _columns(frames: list[etree._Element]) -> int:
    """How many frames stand beside each other: all, unless their pictures are wider than tall."""
    sizes = [_size(svg) for svg in _drawings(frames)]
    wide = not sizes or max(width for width, _ in sizes) > max(height for _, height in sizes)
    return min(len(frames), 2) if wide else len(frames)


def _fit(frames: list[etree._Element]) -> None:
    """Give all drawings the one scale in which they stand on paper."""
    columns = _columns(frames)
    room = (WIDEST - _GAP * (columns - 1)) / columns
    drawings = _drawings(frames)
    scale = min((_scale(svg, room) for svg in drawings), default=1.0)
    for svg in drawings:
        _set(svg, scale)
    for other in (svg for frame in frames for svg in find(frame, ".//s:svg[@viewBox]") if svg not in drawings):
        _set(other, _scale(other, room))


def _scale(svg: etree._Element, room: float) -> float:
    width, height = _size(svg)
    return min(LARGEST, room / width, TALLEST / height)


def _set(svg: etree._Element, scale: float) -> None:
    width, height = _size(svg)
    svg.set("style", f"width:{width * scale:.0f}px;height:{height * scale:.0f}px;max-width:100%")


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


def _beside_its_table(drawing: etree._Element) -> None:
    for svg in find(drawing, ".//*[@class='fx-scroll']/s:svg[@viewBox]"):
        _set(svg, _scale(svg, WIDEST))
    for reach in find(drawing, ".//*[@tabindex]"):
        reach.attrib.pop("tabindex")
