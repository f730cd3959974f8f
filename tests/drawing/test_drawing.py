"""A drawing shows the graph and its marks accessibly and reproducibly."""

from __future__ import annotations

import itertools
import operator
import os
import re
import subprocess
import sys
import urllib.parse

import pytest
import torch
from torch import fx, nn

from fxbook.drawing import STALE, draw
from fxbook.drawing.sides import Sides
from fxbook.drawing.summary import MAX_GROUPS, SUMMARY_ABOVE
from fxbook.graph.record import record
from tests.drawing.graphs import chain, classes, html_of, parts, residual, self_loop, words_in

# ---- content ---------------------------------------------------------------------------------------------------------


def test_rows_follow_the_list_and_no_box_or_lane_overlaps() -> None:
    layout = draw(chain(60, skip=7)).layout
    for upper, lower in itertools.pairwise(layout.boxes):
        assert upper.y + upper.height < lower.y and upper.rail_y < lower.rail_y
    left = layout.boxes[0].x
    right = left + layout.boxes[0].width
    in_lanes = [wire for wire in layout.wires if wire.lane is not None]
    assert in_lanes and all(not left < wire.lane < right for wire in in_lanes)
    spans: dict[float, list[tuple[int, int]]] = {}
    for source in {wire.source for wire in in_lanes}:
        mine = [wire for wire in in_lanes if wire.source == source]
        [lane] = {wire.lane for wire in mine}  # The edges of one node share a lane.
        spans.setdefault(lane, []).append((source, max(wire.reader for wire in mine)))
    for taken in spans.values():
        taken.sort()
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(taken)), "two values in one lane at one row"


def test_edges_enter_in_argument_order_and_name_their_argument() -> None:
    graph = fx.Graph()
    a, b, c = (graph.placeholder(name) for name in "abc")
    graph.call_function(torch.sin, (a,))
    read = graph.call_function(torch.cat, ([c, a, b],), {"out": a})
    graph.output(read)
    wires = [wire for wire in draw(graph).layout.wires if wire.reader == 4]
    assert [(wire.source, wire.label) for wire in wires] == [(2, "0.0"), (0, "0.1"), (1, "0.2"), (0, "out")]
    for side in ("left", "right"):
        ends = [wire.label_at for wire in wires if (wire.label_at[0] < 100) == (side == "left")]
        assert [y for _, y in ends] == sorted(y for _, y in ends)


def test_notes_name_dead_nodes_side_effects_and_in_place_writes() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    unused = graph.call_function(torch.sin, (x,))
    graph.call_function(torch.cos, (unused,))
    graph.call_method("relu_", (x,))
    graph.call_function(operator.iadd, (x, 1))
    graph.call_function(torch._assert, (x, "no"))
    graph.call_function(torch.nn.functional.hardtanh, (x, 0.0, 6.0, True))
    graph.output(x)
    notes = [node.notes for node in record(graph)]
    writes = ("in place",)
    assert notes == [(), ("only dead nodes read it",), ("dead",), writes, writes, ("side effect",), writes, ()]
    drawn = parts(draw(graph), "n")
    assert [at for at, part in drawn.items() if "fx-dead" in classes(part)] == ["1", "2"]
    assert "side effect" in words_in(drawn["5"]) and "in place" in words_in(drawn["3"])


def test_no_node_is_dead_without_an_output() -> None:
    graph = fx.Graph()
    graph.call_function(torch.sin, (graph.placeholder("x"),))
    assert all(not node.notes for node in record(graph))


def test_stale_code_and_lint_errors_are_shown() -> None:
    module = residual()
    assert STALE not in draw(module)._repr_html_()
    relu = next(node for node in module.graph.nodes if node.name == "relu")
    relu.target = torch.sigmoid
    assert STALE in draw(module)._repr_html_() and STALE in repr(draw(module))
    relu.args = (relu,)
    assert "lint: Argument &#x27;relu&#x27; of Node &#x27;relu&#x27;" in draw(module)._repr_html_()


# ---- marks -----------------------------------------------------------------------------------------------------------


def test_unknown_marks_and_nodes_are_rejected_with_the_known_ones() -> None:
    module = residual()
    with pytest.raises(ValueError, match=r"'new' is not a mark; use one of added, removed, rewired, moved, broken"):
        draw(module, marks={"relu": "new"})
    with pytest.raises(ValueError, match=r"no node is named 'relu_9'; its nodes are x, mask, linear"):
        draw(module, marks={"relu_9": "added"})
    with pytest.raises(ValueError, match=r"the node y is not in this graph"):
        draw(module, marks={fx.Graph().placeholder("y"): "added"})


@pytest.mark.parametrize("wrong", [None, "graph", nn.Linear(1, 1), [fx.Graph()]])
def test_non_graphs_are_rejected(wrong: object) -> None:
    with pytest.raises(TypeError, match="trace the model first"):
        draw(wrong)  # type: ignore[arg-type]


# ---- the page --------------------------------------------------------------------------------------------------------


def test_drawing_is_readable_without_style_and_picture() -> None:
    tree = html_of(draw(self_loop(), "It uses itself"))
    for parent in list(tree.iter()):
        for child in list(parent):
            if child.tag == "style" or child.tag.endswith("svg"):
                parent.remove(child)
    left = words_in(tree)
    assert "It uses itself" in left and "! uses itself" in left and "torch.add(add, add)" in left


def test_ids_are_unique_and_contain_the_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "chapters/02 insertion_points.ipynb")
    drawing = draw(residual())
    ids = [part.get("id") for shown in (drawing, drawing, draw(self_loop())) for part in html_of(shown).iter()]
    ids = [name for name in ids if name]
    assert len(ids) > 50 and len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"fx-02-insertion-points-\d+-[a-z0-9-]+", name) for name in ids)
    monkeypatch.delenv("JPY_SESSION_NAME")
    assert 'id="fx-notebook-' in drawing._repr_html_()


@pytest.mark.room(name="cold")
def test_the_same_bytes_in_every_process() -> None:
    code = (
        "import tests.drawing.graphs as t; from fxbook.drawing import draw\n"
        "for build in (t.residual, t.reads_far_ahead, lambda: t.chain(80, 9), lambda: t.chain(900, 40)):\n"
        "    print(draw(build())); print(draw(build())._repr_html_(), draw(build(), order='data')._repr_html_())"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1] and len(outputs[0]) > 50_000


def test_a_drawing_shows_the_graph_as_it_was() -> None:
    graph = chain(4)
    drawing = draw(graph)
    before = repr(drawing)
    graph.erase_node(list(graph.nodes)[-1])
    assert repr(drawing) == before and len(parts(drawing, "n")) == 4


# ---- size ------------------------------------------------------------------------------------------------------------


def test_size() -> None:
    graph = chain(12, skip=3)
    assert len(draw(graph)._repr_html_().encode()) < 25_000
    assert draw(graph).layout.width < 360, "a phone is 360 px wide"


def test_300_nodes_are_drawn_one_by_one() -> None:
    assert draw(chain(300, skip=100))._repr_html_().count('class="fx-node') == 300


def test_from_how_many_nodes_a_graph_is_summarised() -> None:
    assert len(draw(chain(SUMMARY_ABOVE)).record) == SUMMARY_ABOVE
    assert len(draw(chain(SUMMARY_ABOVE + 1)).record) <= MAX_GROUPS


def test_20000_nodes_are_drawn() -> None:
    graph = chain(20_000, skip=3_000)
    assert len(draw(graph)._repr_html_()) < 250_000


def test_a_part_of_a_large_graph_is_drawn_around_a_node() -> None:
    graph = chain(600, 40)
    whole = draw(graph)
    assert "draw(…, around=node)" in repr(whole)
    middle = list(graph.nodes)[300]
    for order in ("list", "data"):
        drawn = draw(graph, around=middle, reach=1, order=order, marks={middle: "meant"})
        names = [node.name for node in drawn.record]
        assert middle.name in names
        near = {*middle.all_input_nodes, *middle.users, middle}
        assert set(names) == {node.name for node in near}
        assert f"{len(names)} of 600 nodes: those at most 1 edge from {middle.name}." in repr(drawn)
        page = drawn._repr_html_()
        assert ">300</text>" in page and "<td>300</td>" in page, "nodes keep their numbers in the whole list"
        assert "? meant" in repr(drawn)
    assert len(draw(graph, around=middle.name, reach=0).record) == 1
    with pytest.raises(ValueError, match="around: no node is named 'nobody'; its nodes are"):
        draw(graph, around="nobody")
    with pytest.raises(ValueError, match="reach: -1 is below 0"):
        draw(graph, around=middle, reach=-1)


def test_a_part_does_not_grow_through_a_node_with_many_users() -> None:
    def reads_a_mask(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        for _ in range(30):
            x = (x * mask).relu()
        return x

    graph = fx.symbolic_trace(reads_a_mask).graph
    part = draw(graph, around="relu_15", reach=3)
    assert "mask" in {node.name for node in part.record} and len(part.record) < 12
    assert len(draw(graph, around="mask", reach=1).record) == 31, "all users of the node in the middle"


def test_the_image_for_untrusted_notebooks_has_the_style_of_its_parts() -> None:
    program = torch.fx.symbolic_trace(lambda x: torch.relu(x)).graph
    [relu] = program.find_nodes(op="call_function", target=torch.relu)
    page = Sides(program, [relu], "Both sides")._repr_html_()
    image = urllib.parse.unquote(re.search('src="(.*?)"', page)[1])
    assert ".fx-op-call_function .fx-shape{fill:" in image and ".fx-op-get_attr" not in image
    assert "class='fx-svg fx-sides'" in image and ".fx-sides .fx-removed .fx-shape{fill:#808080" in image
