"""Plot live memory over the nodes of one run or of two, with a mark at the node of each frame."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from fxbook.drawing.lettering import cut
from fxbook.stepping.film import Film
from fxbook.stepping.run.record import RunRecord
from fxbook.stepping.run.states import size
from fxbook.stepping.run.subject import Subject

_WIDTH, _HEIGHT = 308.0, 120.0
_LEFT, _RIGHT, _BOTTOM, _LINE = 66.0, 10.0, 38.0, 18.0
_MOST_LABELS = 12
FINE_NODES = 60
"""Up to so many nodes, the line shows what is freed after each; of more, only the bytes when its result was made."""


def plot(subjects: Sequence[Subject], spans: Sequence[range]) -> Film:
    """Bytes alive over the nodes, as a film with one frame per span of steps.

    A node takes one unit of width: on its first half the bytes when its result was made, on the second those after
    what is no longer needed was freed. The first run's line is solid, the second's dashed.
    """
    nodes = max(len(subject.graph) for subject in subjects)
    top = 8 + _LINE * len(subjects)
    ticks = _ticks(max(subject.run.peak for subject in subjects))
    film = Film(_WIDTH, top + _HEIGHT + _BOTTOM, len(spans), "Bytes alive over the nodes")
    right, bottom = _WIDTH - _RIGHT, top + _HEIGHT
    unit = (right - _LEFT) / max(nodes, 1)
    scale = _HEIGHT / ticks[-1]

    for frame, span in enumerate(spans):
        width = unit * max(len(span), 1)
        place = {"x": _n(_LEFT + unit * span.start), "y": _n(top), "width": _n(width), "height": _n(_HEIGHT)}
        film.show(ET.SubElement(film.root, "rect", {"class": "fx-here", **place}), [frame])
    for tick in ticks:
        y = bottom - tick * scale
        ET.SubElement(film.root, "path", {"class": "fx-grid", "d": f"M{_n(_LEFT)} {_n(y)}H{_n(right)}"})
        _text(film.root, size(tick), _LEFT - 6, y + 4, "end")
    _node_axis(film.root, nodes, unit, bottom)
    for at, (label, run) in enumerate((subject.label, subject.run) for subject in subjects):
        kind = "fx-plot-b" if at else "fx-plot-a"
        y = 12 + _LINE * at
        ET.SubElement(film.root, "path", {"class": kind, "d": f"M10 {_n(y - 4)}h30"})
        _text(film.root, f"{cut(label, 14)}: at most {size(run.peak)}", 48, y, "start")
        if run.steps:
            ET.SubElement(film.root, "path", {"class": kind, "d": _steps(run, unit, bottom, scale)})
    _text(
        film.root, "bytes alive", 13, top + _HEIGHT / 2, "middle", transform=f"rotate(-90 13 {_n(top + _HEIGHT / 2)})"
    )
    for frame, span in enumerate(spans):
        texts = [f"{subject.label}: {size(subject.bytes_after(span[-1]))}" for subject in subjects]
        film.label(frame, f"Bytes alive over the nodes; after node {span[-1]}: {', '.join(texts)}")
    return film


def _steps(run: RunRecord, unit: float, bottom: float, scale: float) -> str:
    """The line: up when a result is made, down when values are freed; of many nodes, only the upper one."""
    path, before = "", None
    fine = len(run.values) <= FINE_NODES
    for step, (during, after) in enumerate(zip(run.during, run.after, strict=True)):
        heights = (during, after) if fine else (during,)
        for half, held in enumerate(heights):
            y = bottom - held * scale
            x = _LEFT + unit * (step + half / 2)
            if before is None:
                path = f"M{_n(x)} {_n(y)}"
            elif y != before:
                path += f"H{_n(x)}V{_n(y)}"
            before = y
    return path + f"H{_n(_LEFT + unit * run.steps)}"


def _node_axis(parent: ET.Element, nodes: int, unit: float, bottom: float) -> None:
    every = max(1, math.ceil(nodes / _MOST_LABELS))
    if every > 1:
        every = next(step for step in (2, 5, 10, 20, 50, 100, 200, 500, 10**9) if step >= every)
    for index in range(0, nodes, every):
        _text(parent, str(index), _LEFT + unit * (index + 0.5), bottom + 15, "middle")
    _text(parent, "node (number in the list)", _LEFT + unit * nodes / 2, bottom + 33, "middle")


def _ticks(highest: int) -> list[int]:
    """Two to five round numbers from 0 to the highest or a little above it."""
    if highest <= 0:
        return [0, 1]
    rough = highest / 3
    power = 10 ** math.floor(math.log10(rough)) if rough >= 1 else 1
    step = next(max(1, math.ceil(power * factor)) for factor in (1, 2, 5, 10) if power * factor >= rough)
    return [step * at for at in range(math.ceil(highest / step) + 1)]


def _text(parent: ET.Element, text: str, x: float, y: float, anchor: str, **attributes: str) -> None:
    style = {"style": f"text-anchor:{anchor}", "x": _n(x), "y": _n(y)}
    ET.SubElement(parent, "text", {**style, **attributes}).text = text


def _n(value: float) -> str:
    return f"{round(value, 1):g}"
