"""The text on a node and the box around it: sizes, lines and outlines, wherever the node is placed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Literal

from fxbook.drawing.lettering import clean, columns, cut, wrap
from fxbook.graph.record import NodeRecord

# Pixels at natural size. Fixed-width fonts advance 0.55 to 0.602 of their size.
NAME_SIZE, CALL_SIZE, LABEL_SIZE = 14, 13, 12.5
ADVANCE = 0.605
_COLUMNS, _CALL_LINES = 24, 2
_NAME_LINE, _LINE, _PAD_X, PAD_Y = 18, 16, 12, 5
BRIEF_PAD_Y = 3
"""Padding above and below the lines of a brief node."""
# The ends of hexagons and pills narrow towards the top and bottom; a cylinder needs room for its lids.
CHAMFER, LID = 11, 5
_ENDS = ("placeholder", "output")

Kind = Literal["name", "call", "word"]
Lettering = list[tuple[Kind, str, float]]
"""The text on a node: ``(kind, text, size)`` per line."""


@dataclasses.dataclass(frozen=True)
class Box:
    """The position of a node, and its text: ``(kind, text, baseline y)`` per line, centred on ``x + width / 2``."""

    index: int
    x: float
    y: float
    width: float
    height: float
    lines: tuple[tuple[Kind, str, float], ...]
    rail_y: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def lettering(node: NodeRecord, words: Sequence[str]) -> Lettering:
    """The lines on a node: its name, its call, the class of its module, then ``words``."""
    name = cut(clean(node.name), int(_COLUMNS * CALL_SIZE / NAME_SIZE))
    lines: Lettering = [("name", name, NAME_SIZE)]
    call = clean(node.call)
    if call != node.name:
        lines += [("call", line, CALL_SIZE) for line in wrap(call, _COLUMNS, _CALL_LINES)]
    if node.op == "call_module" and node.kind:
        lines.append(("call", cut(f": {clean(node.kind).removeprefix('torch.')}", _COLUMNS), CALL_SIZE))
    for word in words:
        lines += [("word", line, LABEL_SIZE) for line in wrap(clean(word), _COLUMNS, 3)]
    return lines


def brief_lettering(node: NodeRecord, words: Sequence[str]) -> Lettering:
    """The lines on a node if a table next to the drawing shows the call: its name, then ``words`` on one line."""
    name = cut(clean(node.name), int(_COLUMNS * CALL_SIZE / NAME_SIZE))
    together = clean(", ".join(words))
    lines: Lettering = [("name", name, NAME_SIZE)]
    return lines + [("word", line, LABEL_SIZE) for line in wrap(together, _COLUMNS, 3)] if words else lines


def text_width(looks: Iterable[Lettering], least: float) -> float:
    widths = (columns(text) * size * ADVANCE for look in looks for _, text, size in look)
    return even(max(max(widths, default=0) + 2 * _PAD_X, least))


def text_height(op: str, looks: Iterable[Lettering], pad: float = PAD_Y) -> float:
    lid = LID if op == "get_attr" else 0
    return max(map(_lines_height, looks)) + 2 * pad + 2 * lid


def letter(box: Box, op: str, look: Lettering) -> Box:
    lid = LID if op == "get_attr" else 0
    baseline = box.y + lid + (box.height - lid - _lines_height(look)) / 2
    lines = []
    for kind, text, _ in look:
        advance = _NAME_LINE if kind == "name" else _LINE
        lines.append((kind, text, round(baseline + advance - 5, 1)))
        baseline += advance
    return dataclasses.replace(box, lines=tuple(lines))


def _lines_height(look: Lettering) -> float:
    return sum(_NAME_LINE if kind == "name" else _LINE for kind, _, _ in look)


def inset(op: str, box: Box, y: float) -> float:
    """The distance from the side of a node's box to its outline, at height ``y``."""
    off = abs(y - box.y - box.height / 2)
    if op in _ENDS:
        radius = min(box.height / 2, 22)
        over = off - (box.height / 2 - radius)
        return radius - (radius**2 - over**2) ** 0.5 if over > 0 else 0
    return CHAMFER * off / (box.height / 2) if op == "call_method" else 0


def even(value: float) -> float:
    """The next even number, which keeps lines sharp."""
    return float(2 * -(-value // 2))
