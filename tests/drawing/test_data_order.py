"""In data-flow order, a drawing has the same parts and words as in list order, and each node is below its inputs."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from torch import fx

from fxbook.drawing import Drawing, draw, draw_record
from fxbook.drawing.summary import SUMMARY_ABOVE
from fxbook.graph.record import record
from press import ROOT
from tests.drawing.graphs import (
    BROKEN,
    chain,
    html_of,
    parts,
    residual,
    shuffled,
    words_in,
)

WHOLE: list[Callable[[], fx.Graph | fx.GraphModule]] = [
    residual,
    shuffled,
    lambda: chain(30, 7),
    lambda: chain(SUMMARY_ABOVE + 100, 9),
]


def by_data(build: Callable[[], fx.Graph | fx.GraphModule]) -> Drawing:
    return draw(build(), order="data")


@pytest.mark.parametrize("build", [*WHOLE, *BROKEN], ids=lambda build: build.__name__)
def test_both_orders_have_the_same_parts(build: Callable[[], fx.Graph]) -> None:
    drawings = draw(build(), "g"), draw(build(), "g", order="data")
    for kind in ("n", "e", "r"):
        listed, layered = (parts(drawing, kind) for drawing in drawings)
        assert list(listed) == list(layered)
        for name, part in listed.items():
            # The outlines have the same look, and the texts are the same.
            looks = [[(at.tag, at.get("class")) for at in group.iter()] for group in (part, layered[name])]
            assert kind == "r" or looks[0] == looks[1], name
            assert words_in(part) == words_in(layered[name])
    assert repr(drawings[0]) == repr(drawings[1])
    tables = [html_of(drawing).find(".//table") for drawing in drawings]
    assert words_in(tables[0]) == words_in(tables[1])


@pytest.mark.parametrize("build", WHOLE, ids=["residual", "shuffled", "chain", "summary"])
def test_nodes_are_below_their_inputs(build: Callable[[], fx.Graph]) -> None:
    layout = by_data(build).layout
    assert layout.wires
    for wire in layout.wires:
        source, reader = layout.boxes[wire.source], layout.boxes[wire.reader]
        assert source.y + source.height + 8 < reader.y, "room for an arrow"


@pytest.mark.parametrize("build", [*WHOLE, *BROKEN], ids=lambda build: build.__name__)
def test_no_two_nodes_overlap_and_all_are_in_the_picture(build: Callable[[], fx.Graph]) -> None:
    layout = by_data(build).layout
    for box in layout.boxes:
        assert box.x - 12 > 0 and box.x + box.width < layout.width, "room for the number"
        assert box.y > 0 and box.y + box.height < layout.height
    for a, b in itertools.combinations(layout.boxes, 2):
        apart_x = a.x + a.width < b.x - 12 or b.x + b.width < a.x - 12
        assert apart_x or a.y + a.height < b.y or b.y + b.height < a.y


def test_text_alternative_names_the_order() -> None:
    for order, words in (("list", "in the order of the list"), ("data", "each below the nodes that it uses")):
        assert words in words_in(html_of(draw(residual(), order=order)).find(".//figure"))


def test_unknown_order_lists_the_known_ones() -> None:
    for drawn in (lambda: draw(residual(), order="flow"), lambda: draw_record(record(residual()), order="flow")):
        with pytest.raises(ValueError, match=r"'flow' is not known; use 'list', .* or 'data', for the data flow"):
            drawn()


def test_missing_graphviz_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import graphviz.backend.dot_command

    drawing = by_data(residual)
    monkeypatch.setattr(graphviz.backend.dot_command, "DOT_BINARY", "/nowhere/graphviz-pure")
    with pytest.raises(
        RuntimeError, match=r'graphviz-pure, which is not installed: run `pip install "fxbook\[draw\]"`'
    ):
        drawing._repr_html_()


def test_graphviz_is_found_in_a_borrowed_environment(tmp_path: Path) -> None:
    venv.create(tmp_path / "borrowing", symlinks=True)
    paths = sysconfig.get_paths(vars=dict.fromkeys(("base", "platbase"), str(tmp_path / "borrowing")))
    lent = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (Path(paths["purelib"]) / "lent.pth").write_text(lent, encoding="utf-8")
    draws = "draw(residual(), order='data')"
    code = f"from tests.drawing.graphs import residual; from fxbook import draw; print({draws}.layout)"
    [python] = Path(paths["scripts"]).glob("python" if os.name != "nt" else "python.exe")
    done = subprocess.run([python, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.startswith("Layout("), done.stderr


def test_list_order_needs_no_graphviz() -> None:
    code = (
        "import sys, subprocess; from tests.drawing.graphs import residual; from fxbook import draw\n"
        "subprocess.Popen = None; draw(residual())._repr_html_(); assert 'graphviz' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_dense_graph_is_drawn_in_time() -> None:
    # With Graphviz's default limits, this graph would take minutes.
    assert draw(chain(200, 60), order="data").layout.boxes
