"""Steppers and drawings without scripts: a stepper has up to four of its frames drawn, each as a picture."""

from __future__ import annotations

import copy
import re

from lxml.html import HtmlElement

from extras.editions.markup import find, replace, text

AT_MOST = 4
"""The most frames of a stepper to draw."""
COLUMN = 330
"""The width of a column of the PDF, in pixels."""
# The scale of a drawing relative to the screen, and the smallest scale at which it is legible.
_SCALE, _LEGIBLE = 0.75, 0.54
_MARKS = {f"fx-{mark}" for mark in ("added", "broken", "changed", "is-raised", "moved", "removed", "renamed",
                                    "retargeted", "rewired")}  # fmt: skip
_PART = re.compile(r"visibility:\s*var\((--f\d+),\s*hidden\)")
_SHOWN = re.compile(r"(--f\d+):\s*visible")
_SLIDE = re.compile(r"transform:\s*translateY\(var\((--y\d+),\s*0px\)\)")
_MOVED = re.compile(r"(--y\d+):\s*(-?[\d.]+)px")


def freeze(page: HtmlElement) -> None:
    """Turn each stepper on a page into static frames, and give each drawing its size."""
    for still in page.find_class("fx-still"):
        still.drop_tree()
    for stepper in page.find_class("fx-stepper"):
        _freeze(stepper)
    for drawing in page.find_class("fx-drawing"):
        for svg in find(drawing, ".//*[@class='fx-scroll']/s:svg[@viewBox]"):
            svg.getparent().attrib.pop("style", None)
            width = float(svg.get("viewBox").split()[2])
            svg.set("style", f"width:{width * _SCALE:.0f}px")
            frame = next((above for above in svg.iterancestors() if "fx-frame" in above.classes), None)
            if frame is not None and width * _SCALE > COLUMN / 2:
                frame.classes.add("fx-broad")
            elif frame is None and width * _LEGIBLE > COLUMN:
                drawing.classes.add("fx-across")


def chosen(frames: list[HtmlElement]) -> set[int]:
    """The numbers of the frames to draw: the first, the last, and those with the most marks in between."""
    inner = range(1, len(frames) - 1)
    marked = [sum(bool(_MARKS & set(row.classes)) for row in find(frame, ".//tr")) for frame in frames]
    return {0, len(frames) - 1, *sorted(inner, key=lambda at: marked[at], reverse=True)[: AT_MOST - 2]}


def _freeze(stepper: HtmlElement) -> None:
    films = {g.get("id"): g for g in find(stepper, ".//s:defs/s:g")}
    for earlier in stepper.find_class("fx-earlier"):
        replace(earlier, earlier.find_class("fx-frame"))
    frames = stepper.find_class("fx-frame")
    shown = chosen(frames)
    code = ""
    for at, frame in enumerate(frames):
        # A drawing shows the order, names and changes of the nodes, so the table next to it is removed. The code stays
        # if it differs from that of the previous frame; a plot that all frames share stays in the last frame.
        for panel in frame.find_class("fx-panel"):
            lines = "".join(map(text, panel.find_class("fx-code")))
            plot = frame is frames[-1] and find(panel, ".//s:svg")
            if at in shown and (panel.get("data-fx-panel") == "drawing" or plot or (lines and lines != code)):
                code = lines or code
                panel.attrib.pop("style", None)
            else:
                panel.drop_tree()
        for svg in find(frame, ".//s:svg[s:use]"):
            _resolve(svg, films)
    for films in stepper.find_class("fx-films"):
        films.drop_tree()
    stepper.set("class", "fx-drawing fx-stepper fx-multiples")
    for element in find(stepper, "descendant-or-self::*[@tabindex]"):
        element.attrib.pop("tabindex")
    stepper.attrib.pop("style", None)


def _resolve(svg: HtmlElement, films: dict[str, HtmlElement]) -> None:
    """Replace the reference to the animation with the part of it that is visible."""
    [use] = find(svg, "./s:use")
    picture = copy.deepcopy(films[use.get("href").removeprefix("#")])
    picture.attrib.pop("id")
    visible = set(_SHOWN.findall(svg.get("style", "")))
    moved = dict(_MOVED.findall(svg.get("style", "")))
    for part in find(picture, ".//*[@style]"):
        if found := _PART.fullmatch(part.get("style").strip()):
            if found[1] in visible:
                del part.attrib["style"]
            else:
                part.drop_tree()
        elif found := _SLIDE.fullmatch(part.get("style").strip()):
            del part.attrib["style"]
            if by := moved.get(found[1]):
                part.set("transform", f"translate(0 {by})")
    replace(use, [picture])
