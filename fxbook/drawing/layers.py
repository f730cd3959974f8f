"""Place a graph in layers by data flow: every node below its inputs, whatever the order of the list.

Graphviz places the nodes and routes the edges. This module sets the node sizes and where edges enter a node: from
above, in the order of the arguments.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import graphviz
import graphviz.backend.dot_command

from fxbook.drawing.boxes import ADVANCE, LABEL_SIZE, Box, Lettering, even, letter, lettering, text_height, text_width
from fxbook.drawing.layout import MARGIN, Layout, Wire, input_labels, shown_label
from fxbook.extras import cure
from fxbook.graph.record import GraphRecord, NodeRecord

_COMMAND = "graphviz-pure"

# In pixels, which are Graphviz's points. The corner is the part of a shape's top that may be round.
_CORNER, _LEAST_INPUT, _LEAST_WIDTH = 22, 14, 64
_INCH = 72
_GRAPH = {"nodesep": f"{4 / _INCH:.3f}", "ranksep": f"{30 / _INCH:.3f}", "nslimit": "1"}
# With hundreds of crossing edges, Graphviz searches for the best placement for minutes; above the first limit, a good
# one is enough. Routing lines around nodes takes minutes if they pass many layers; above the second limit, lines are
# straight.
_QUICK_ABOVE, _LINES_ABOVE = 200, 800
_CELL = '<TD{} FIXEDSIZE="TRUE" WIDTH="{:g}" HEIGHT="{:g}"></TD>'
_TABLE = '<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0"><TR>{}</TR></TABLE>>'


def _command() -> Path:
    """The path of graphviz-pure's command, which is not on PATH unless its environment is activated.

    An environment may borrow its packages from another one, so the path comes from the package, not from the
    interpreter's folder.
    """
    try:
        files = metadata.files(_COMMAND) or ()
    except metadata.PackageNotFoundError:
        files = ()
    return next((Path(file.locate()).resolve() for file in files if file.stem == _COMMAND), Path(_COMMAND))


graphviz.backend.dot_command.DOT_BINARY = _command()


def place_layers(
    record: GraphRecord, words: Mapping[int, Sequence[str]] | None = None, highest_number: int | None = None
) -> Layout:
    """Place every node and edge of the record; ``words`` are further lines of text for nodes, by index.

    There is room next to each node for its number in the list, which is at most ``highest_number`` if the record is a
    part.

    Raises:
        RuntimeError: the command of graphviz-pure is missing.
    """
    words, labels = words or {}, input_labels(record)
    looks = [lettering(node, words.get(node.index, ())) for node in record]
    widths = [_width(node, look, labels) for node, look in zip(record, looks, strict=True)]
    drawn = _laid_out(_source(record, looks, widths, highest_number))
    left, bottom, right, top = _numbers(drawn["bb"])
    nodes = {part["name"]: part for part in drawn.get("objects", ())}
    edges = {part["id"]: part for part in drawn.get("edges", ())}
    boxes = []
    for node, look, width in zip(record, looks, widths, strict=True):
        x, y = _numbers(nodes[str(node.index)]["pos"])
        height = text_height(node.op, [look])
        x, y = round(MARGIN + x - left, 1), round(MARGIN + top - y, 1)
        box = Box(node.index, round(x - width / 2, 1), round(y - height / 2, 1), width, height, (), y)
        boxes.append(letter(box, node.op, look))
    wires = []
    for node in record:
        paths = [edges[_edge_id(node.index, k)]["pos"] for k in range(len(node.inputs))]
        wires += _wires(node, paths, (MARGIN - left, MARGIN + top), labels)
    size = even(right - left + 2 * MARGIN), round(top - bottom + 2 * MARGIN, 1)
    return Layout(*size, None, tuple(boxes), tuple(wires))


def _width(node: NodeRecord, look: Lettering, labels: Mapping[int, Sequence[str]]) -> float:
    inputs, written = len(node.inputs), labels[node.index]
    if not inputs:
        return text_width([look], _LEAST_WIDTH)
    longest = max((len(shown_label(labels, node.index, k, False)) for k in range(inputs)), default=0)
    least = max(_LEAST_INPUT, 12 + longest * LABEL_SIZE * ADVANCE if written else 0)
    cell = math.ceil(max((text_width([look], _LEAST_WIDTH) - 2 * _CORNER) / inputs, least))
    return even(inputs * cell) + 2 * _CORNER


def _source(
    record: GraphRecord, looks: Sequence[Lettering], widths: Sequence[float], highest_number: int | None
) -> graphviz.Digraph:
    """The graph in Graphviz's language: boxes of the right size, with a port for each input and inputs on top."""
    dot = graphviz.Digraph(
        graph_attr=_GRAPH | _effort(record),
        node_attr={"shape": "plain"},
        edge_attr={"arrowsize": "0.8", "tailport": "s"},
    )
    digits = len(str(max(len(record) - 1, 0) if highest_number is None else highest_number))
    # There is room on both sides, so that a node is centred in the box that Graphviz places.
    strip = even(digits * LABEL_SIZE * ADVANCE + 16)
    ends: dict[str, list[str]] = {"placeholder": [], "output": []}
    for node, look, width in zip(record, looks, widths, strict=True):
        height, inputs = text_height(node.op, [look]), len(node.inputs)
        side = _CELL.format("", strip + _CORNER, height)
        middle = width - 2 * _CORNER
        ports = [_CELL.format(f' PORT="{k}"', middle / inputs, height) for k in range(inputs)]
        ports = ports or [_CELL.format("", middle, height)]
        dot.node(str(node.index), _TABLE.format("".join([side, *ports, side])))
        ends.get(node.op, []).append(str(node.index))
    for kind, rank in (("placeholder", "min"), ("output", "max")):
        with dot.subgraph(graph_attr={"rank": rank}) as layer:
            for name in ends[kind]:
                layer.node(name)
    for node in record:
        for k, source in enumerate(node.inputs):
            # Heavy edges are drawn straight: they are those that are also straight in list order.
            weight = "3" if node.index - source == 1 else "1"
            dot.edge(str(source), f"{node.index}:{k}:n", id=_edge_id(node.index, k), weight=weight)
    return dot


def _effort(record: GraphRecord) -> dict[str, str]:
    """How long Graphviz may search for better places, and whether lines may bend around nodes."""
    edges = sum(len(node.inputs) for node in record)
    quick = {"nslimit": "0.2", "mclimit": "0.1"} if edges > _QUICK_ABOVE else {}
    return quick | ({"splines": "line"} if _layers_passed(record) > _LINES_ABOVE else {})


def _layers_passed(record: GraphRecord) -> int:
    """How many layers all edges pass in total: inputs are on top, and a get_attr is directly above its first user."""
    layers: list[int] = []
    for node in record:
        layers.append(1 + max((layers[at] for at in node.inputs if at < node.index), default=-1))
    for node in record:
        if node.op == "get_attr" and node.users:
            layers[node.index] = min(layers[at] for at in node.users) - 1
    return sum(abs(layers[node.index] - layers[at]) for node in record for at in node.inputs)


def _edge_id(reader: int, k: int) -> str:
    return f"{reader}-{k}"


def _laid_out(dot: graphviz.Digraph) -> dict[str, Any]:
    try:
        return json.loads(dot.pipe(format="json0", encoding="utf-8"))
    except graphviz.ExecutableNotFound:
        raise RuntimeError(cure("draw", 'draw(order="data")', _COMMAND)) from None


def _wires(
    node: NodeRecord, paths: Sequence[str], origin: tuple[float, float], labels: Mapping[int, Sequence[str]]
) -> list[Wire]:
    """The edges into a node, from left to right, each labelled on the side away from its source."""
    wires, free_from = [], -math.inf
    for k, (source, path) in enumerate(zip(node.inputs, paths, strict=True)):
        (tip_x, tip_y), *curve = (
            (round(origin[0] + x, 1), round(origin[1] - y, 1))
            for x, y in (_numbers(point.removeprefix("e,")) for point in path.split())
        )
        broken = source >= node.index
        label, at = shown_label(labels, node.index, k, broken), None
        if label:
            width = len(label) * LABEL_SIZE * ADVANCE
            aside = tip_x - 5 - width
            start = aside if curve[-1][0] > tip_x + 1 and aside > free_from else tip_x + 5
            at, free_from = (start + width / 2, tip_y - 3), start + width
        led, head = _arrow(curve, tip_x, tip_y)
        wires.append(Wire(source, node.index, k, led, led, head, label, at, broken))
    return wires


def _arrow(curve: Sequence[tuple[float, float]], tip_x: float, tip_y: float) -> tuple[str, str]:
    """The line from Graphviz's Bézier curves, and an arrowhead of the same size as in list order."""
    last_x, last_y = curve[-1]
    length = math.hypot(tip_x - last_x, tip_y - last_y) or 1.0
    along_x, along_y = (tip_x - last_x) / length, (tip_y - last_y) / length
    corners = [
        _point(tip_x - 8 * along_x - side * 4 * along_y, tip_y - 8 * along_y + side * 4 * along_x) for side in (1, -1)
    ]
    bends = " ".join(_point(*point) for point in curve[1:])
    end = _point(tip_x - 6 * along_x, tip_y - 6 * along_y)
    return f"M{_point(*curve[0])}C{bends}L{end}", f"M{_point(tip_x, tip_y)}L{'L'.join(corners)}z"


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.split(",")]


def _point(x: float, y: float) -> str:
    return f"{round(x, 1):g} {round(y, 1):g}"
