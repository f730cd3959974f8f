"""Show a graph: in a notebook as a picture with a legend and a table, in plain text as a table of its nodes."""

from __future__ import annotations

import functools
import html
import itertools
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from torch import fx

from fxbook.drawing.image import framed
from fxbook.drawing.layout import Layout, place
from fxbook.drawing.lettering import clean, wrap
from fxbook.drawing.node_table import html_table, text_table
from fxbook.drawing.paint import SIGNS, swatch
from fxbook.drawing.part import part_around
from fxbook.drawing.still import View, picture
from fxbook.drawing.summary import SUMMARY_ABOVE, summarise
from fxbook.extras import needing
from fxbook.graph.record import GraphRecord, record

STALE = "The compiled code is older than this graph: recompile()."
LEGEND = {
    "placeholder": "placeholder: an input",
    "get_attr": "get_attr: a stored tensor",
    "call_module": "call_module: a submodule",
    "call_function": "call_function: a function",
    "call_method": "call_method: a method of a value",
    "output": "output: the result",
    "group": "several nodes",
}
MARK_LEGEND = {
    "added": "+ thick outline: added",
    "removed": "\N{MINUS SIGN} dashed: removed",
    "rewired": "↪ bold edge: uses a different value than before",
    "moved": "↕ on the numbers: moved in the list",
    "broken": "! bold: broken",
    "meant": "? bold: the node in question",
}
Order = Literal["list", "data"]
_ORDERED = {
    "list": "{} rows, in the order of the list.",
    "data": "{} nodes, each below the nodes that it uses; numbered as in the list.",
}
_SLIM = 400
"""The width in pixels up to which a picture leaves room for text next to it on a page."""
_ordinals = itertools.count(1)


class Drawing:
    """A snapshot of a graph; put it at the end of a cell to show it.

    Each display has its own ids: ``fx-<notebook>-<ordinal>-…``, where the notebook is the stem of the environment
    variable ``JPY_SESSION_NAME`` and the ordinal counts the pictures of this process.
    """

    def __init__(
        self,
        record: GraphRecord,
        title: str,
        marks: Mapping[int, tuple[str, ...]],
        *,
        fill: Mapping[int, float] | None = None,
        order: Order = "list",
        around: int | None = None,
        reach: int = 2,
    ) -> None:
        """Set what :func:`draw` shows; nodes are given by index.

        ``fill`` is a strength from 0 to 1 that replaces the colour of the opcode; 0 for other nodes. It is only for
        graphs that are drawn node by node.

        Raises:
            ValueError: the order is unknown, or the reach is negative.
        """
        if order not in get_args(Order):
            raise ValueError(
                f"order: {order!r} is not known; use 'list', for the order of the list, or 'data', for the data flow"
            )
        self.order = order
        self.title = title
        self.remark, self.numbers, count = "", list(range(len(record))), len(record)
        if around is not None:
            if reach < 0:
                raise ValueError(f"reach: {reach} is below 0; 0 draws the node alone, 2 all nodes up to two edges away")
            record, self.numbers = part_around(record, around, reach)
            marks = {at: marks.get(number, ()) for at, number in enumerate(self.numbers)}
            fill = fill and {at: fill.get(number, 0.0) for at, number in enumerate(self.numbers)}
            middle = clean(record.nodes[self.numbers.index(around)].name, 60)
            far = f"{reach} edge{'' if reach == 1 else 's'}"
            self.remark = f"{len(record)} of {count} nodes: those at most {far} from {middle}."
        if len(record) > SUMMARY_ABOVE:
            count = len(record)
            record, rows = summarise(record)
            marks = {at: _gather(marks, group) for at, group in enumerate(rows)}
            self.numbers = list(range(len(record)))
            self.remark = (
                f"{count} nodes are too many to draw one by one: they are shown in {len(record)} groups."
                " draw(…, around=node) shows the nodes around one."
            )
        self.fill = fill
        self.record = record
        self.marks = {index: own for index, own in marks.items() if own}
        self.words = {node.index: words_for(node.notes, node.faults, self.marks.get(node.index, ())) for node in record}

    @property
    def banners(self) -> list[str]:
        """Remarks on the whole graph: a summary, stale code, the message from ``lint``."""
        lint = f"lint: {clean(self.record.lint, 300)}" if self.record.lint else ""
        empty = "" if self.record.nodes else "The graph has no nodes."
        return [text for text in (empty, self.remark, STALE if self.record.stale else "", lint) if text]

    @functools.cached_property
    def layout(self) -> Layout:
        if self.order == "list":
            # If colours show numbers, the table has the calls.
            return place(self.record, self.words, self._highest, brief=self.fill is not None)
        with needing("draw", 'draw(order="data")'):
            from fxbook.drawing.layers import place_layers

        return place_layers(self.record, self.words, self._highest)

    @property
    def _highest(self) -> int:
        return max(self.numbers, default=0)

    def __repr__(self) -> str:
        banners = [line for text in self.banners for line in wrap(text, 100, 6)]
        return "\n".join([*wrap(self.title, 100, 2), *banners, text_table(self.record, self.words, self.numbers)])

    def _repr_html_(self) -> str:
        prefix = next_prefix()
        title = html.escape(self.title)
        banners = "".join(f'<div class="fx-banner">{html.escape(text)}</div>' for text in self.banners)
        svg = self._svg(prefix, self._description())
        items = "".join(f"<li>{item}</li>" for item in self._legend())
        legend = f'<ul class="fx-legend">{items}</ul>' if items else ""
        if self.fill is not None and items:
            # If colours show numbers, which are also on the nodes, the shapes matter less.
            legend = f"<details><summary>What the signs mean</summary>{legend}</details>"
        # On a phone, a wide picture scrolls, so the keyboard must reach it.
        slim = " fx-slim" if self.layout.width <= _SLIM else ""
        reach = f' aria-label="{title}" role="group" tabindex="0"' if self.layout.width * 0.96 > 300 else ""
        table = html_table(self.record, self.words, self.numbers)
        head = f'<figcaption class="fx-caption">{title}{banners}</figcaption>'
        return (
            f'<div class="fx-drawing{slim}"><style>{style()}</style>'
            f"<figure>{head}{framed(svg, self.layout.width, self.layout.height, self.title, reach)}</figure>{legend}"
            f"<details><summary>The graph as a table</summary>{table}</details></div>"
        )

    def picture(self, prefix: str, description: str, view: View | None = None) -> str:
        """The picture alone, as one ``<svg>``.

        Each id in it begins with ``prefix``, and a screen reader reads ``description`` out.
        """
        return ET.tostring(self._svg(prefix, description, view), encoding="unicode")

    def _svg(self, prefix: str, description: str, view: View | None = None) -> ET.Element:
        return picture(
            self.record,
            self.layout,
            self.marks,
            prefix,
            self.title,
            description,
            self.numbers,
            fill=self.fill,
            view=view,
        )

    def _description(self) -> str:
        """The picture in sentences for a screen reader; the table has the rest of a long graph."""
        parts = [*self.banners, _ORDERED[self.order].format(len(self.record))]
        for node in self.record.nodes[:30]:
            reads = ", ".join(clean(self.record.nodes[i].name, 60) for i in node.inputs)
            notes = "; ".join(self.words[node.index])
            parts.append(
                f"{self.numbers[node.index]} {clean(node.name, 60)}, {node.op}"
                + (f", uses {reads}" if reads else "")
                + (f" ({notes})" if notes else "")
                + "."
            )
        if len(self.record) > 30:
            parts.append("The table below has all of them.")
        return " ".join(parts)

    def _legend(self) -> list[str]:
        ops = {node.op for node in self.record}
        items = [swatch(op, hue=self.fill is None) + text for op, text in LEGEND.items() if op in ops]
        if len(self.record) > 1:
            items.append("numbers: order in the list")
        if any(node.inputs for node in self.record):
            items.append("arrows: who uses what")
            items += ["from top to bottom: the data flow"] if self.order == "data" else []
        if any(wire.label_at and not wire.broken for wire in self.layout.wires):
            items.append("small digits: place among the arguments")
        notes = {note for node in self.record for note in node.notes}
        used = {mark for own in self.marks.values() for mark in own}
        if any(node.faults for node in self.record):
            used.add("broken")
        items += [text for mark, text in MARK_LEGEND.items() if mark in used]
        items += ["dashed: dead, no result needs it"] if any("dead" in note for note in notes) else []
        return items


def draw(
    graph_or_module: fx.Graph | fx.GraphModule,
    title: str | None = None,
    marks: Mapping[fx.Node | str, str | Collection[str]] | None = None,
    order: Order = "list",
    *,
    around: fx.Node | str | None = None,
    reach: int = 2,
) -> Drawing:
    """Draw a graph. Put the result at the end of a cell to see it.

    Args:
        graph_or_module: the graph, or a module that has one.
        title: the caption; by default, the module's name.
        marks: a dict that maps nodes or their names to ``"added"``, ``"removed"``, ``"rewired"``, ``"moved"``,
            ``"broken"`` or ``"meant"`` (nothing is wrong, but the text is about it), or several of these. Errors,
            dead nodes, side effects and stale code are always marked.
        order: ``"list"`` draws the nodes in list order, one below the other, next to a rail with their numbers;
            ``"data"`` draws each node below the nodes it uses, with its list number next to it.
        around: a node or its name; in a large graph, only the nodes around it are drawn.
        reach: the number of edges to follow from ``around``, in both directions. Edges are not followed from one user
            of a node with many users (a mask, a weight) to the other users.

    Raises:
        TypeError: there is no graph to draw.
        ValueError: a mark, node, order or reach is unknown; the message lists the known ones.

    Example:
        >>> import torch
        >>> from fxbook import draw
        >>> draw(torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU())), marks={"_0": "meant"})
        Graph of Sequential
        #  name    opcode       call             users   notes
        0  input   placeholder  input            _0
        1  _0      call_module  self.0(input_1)  output  ? meant
        2  output  output       return _0
    """
    drawn = record(graph_or_module)
    graph = graph_or_module if isinstance(graph_or_module, fx.Graph) else graph_or_module.graph
    position = {node: index for index, node in enumerate(graph.nodes)}
    if title is None:
        kind = type(graph_or_module).__name__
        title = "Graph" if kind in ("Graph", "GraphModule") else f"Graph of {kind}"
    named: dict[int | str, Any] = {}
    for key, value in (marks or {}).items():
        if isinstance(key, fx.Node) and key not in position:
            raise ValueError(f"marks: the node {key.name} is not in this graph; {_known(drawn)}")
        named[position[key] if isinstance(key, fx.Node) else key] = value
    if isinstance(around, fx.Node) and around not in position:
        raise ValueError(f"around: the node {around.name} is not in this graph; {_known(drawn)}")
    middle = position[around] if isinstance(around, fx.Node) else around
    return draw_record(drawn, title, named, order, around=middle, reach=reach)


def draw_record(
    record: GraphRecord,
    title: str = "Graph",
    marks: Mapping[int | str, str | Collection[str]] | None = None,
    order: Order = "list",
    *,
    around: int | str | None = None,
    reach: int = 2,
) -> Drawing:
    """Draw a graph given as plain data, with nodes by name or by index; otherwise like :func:`draw`.

    Raises:
        ValueError: a mark, a node or an order is unknown; the message lists the known ones.
    """
    resolved: dict[int, tuple[str, ...]] = {}
    for key, value in (marks or {}).items():
        index = _index(record, "marks", key)
        values = (value,) if isinstance(value, str) else tuple(value)
        for mark in values:
            if mark not in SIGNS:
                raise ValueError(f"marks: {mark!r} is not a mark; use one of {', '.join(SIGNS)}")
        resolved[index] = tuple(dict.fromkeys([*resolved.get(index, ()), *values]))
    middle = None if around is None else _index(record, "around", around)
    return Drawing(record, clean(title, 200), resolved, order=order, around=middle, reach=reach)


def _index(record: GraphRecord, what: str, key: int | str) -> int:
    node = record.named(key) if isinstance(key, str) else None
    index = node.index if node else key
    if not isinstance(index, int) or not 0 <= index < len(record):
        raise ValueError(f"{what}: no node is named {key!r}; {_known(record)}")
    return index


@functools.cache
def style() -> str:
    """The style sheet of every drawing, always the same bytes."""
    text = (Path(__file__).parent.parent / "static" / "drawing.css").read_text(encoding="utf-8")
    return text.replace("\n", "")


def next_prefix() -> str:
    """The prefix of the ids in one display: ``fx-<notebook>-<ordinal>``; the ordinal is counted in this process."""
    return f"fx-{_notebook()}-{next(_ordinals)}"


def _notebook() -> str:
    stem = Path(os.environ.get("JPY_SESSION_NAME", "")).stem
    return re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-") or "notebook"


def _known(record: GraphRecord) -> str:
    names = [node.name for node in record]
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"its nodes are {', '.join(names[:20])}{more}" if names else "it has no nodes"


def _gather(marks: Mapping[int, tuple[str, ...]], group: range) -> tuple[str, ...]:
    return tuple(dict.fromkeys(mark for index in group for mark in marks.get(index, ())))


def words_for(notes: Collection[str], faults: Collection[str], marks: Collection[str]) -> list[str]:
    return [*(f"{SIGNS[mark]} {mark}" for mark in marks), *(f"! {fault}" for fault in faults), *notes]
