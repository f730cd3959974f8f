"""An edit stepper records plain data, describes changes between frames, and is compact and reproducible."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
import torch
from pytest_regressions.file_regression import FileRegressionFixture
from torch import Tensor, fx, nn

from fxbook import EditStepper
from fxbook.stepping.edit.rows import union_rows
from fxbook.stepping.player import MAX_FRAMES
from press import ROOT
from tests.drawing.graphs import BROKEN, chain, without_output


class Block(nn.Module):
    """A residual block with three nodes between input and output."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + x


def traced() -> fx.GraphModule:
    return fx.symbolic_trace(Block())


def tree(steps: EditStepper) -> list[ET.Element]:
    """The frames of the HTML, which must be well-formed XML except for script and static pictures."""
    html = re.sub(r"<script>.*</script>|<img [^>]*>", "", steps._repr_html_(), flags=re.S)
    return ET.fromstring(html).findall(".//div[@class='fx-frame']")


def table_of(frame: ET.Element) -> dict[str, str]:
    """The classes of the rows in a frame's table, by node name."""
    return {row.get("data-fx-name", ""): row.get("class", "") for row in frame.iter("tr") if row.get("data-fx-name")}


# ---- what changed ----------------------------------------------------------------------------------------------------


def inserted() -> EditStepper:
    """Frames in which a new node has no user at first, then uses itself, and is then repaired."""
    module = traced()
    x = next(iter(module.graph.nodes))
    steps = EditStepper(module, "As traced", title="Insert tanh")
    with module.graph.inserting_after(x):
        tanh = module.graph.call_function(torch.tanh, (x,))
    steps.frame("nobody reads it")
    x.replace_all_uses_with(tanh)
    steps.frame("it uses itself")
    tanh.args = (x,)
    module.recompile()
    steps.frame("repaired")
    return steps


def changed() -> EditStepper:
    module = traced()
    linear, relu, add = list(module.graph.nodes)[1:4]
    steps = EditStepper(module, "As traced")
    relu.target = torch.sigmoid
    steps.frame("retargeted")
    relu.name = "gate"
    steps.frame("renamed")
    add.args = (relu, 2.0)
    steps.frame("no longer two inputs")
    add.args = (relu, 3.0)
    steps.frame("another constant")
    relu.replace_all_uses_with(linear)
    module.graph.erase_node(relu)
    steps.frame("erased")
    return steps


def moved(forward: bool) -> EditStepper:
    graph = fx.Graph()
    x = graph.placeholder("x")
    second, first = graph.call_function(torch.cos, (x,)), graph.call_function(torch.sin, (x,))
    graph.output((first, second))
    steps = EditStepper(graph, "before")
    if forward:
        first.append(second)
    else:
        second.prepend(first)
    steps.frame("after")
    return steps


BUILDS = {"inserted": inserted, "changed": changed, "append": lambda: moved(True), "prepend": lambda: moved(False)}


@pytest.mark.parametrize("name", BUILDS)
def test_each_frame_says_what_changed(name: str, file_regression: FileRegressionFixture) -> None:
    """Its remarks do, the marks in its table, and its code, which is the old code while the module is stale."""
    steps = BUILDS[name]()
    marks = [{name: kinds for name, kinds in table_of(frame).items() if kinds} for frame in tree(steps)]
    code = [" ".join("".join(frame.find(".//pre").itertext()).split()) for frame in tree(steps) if frame.find(".//pre")]
    file_regression.check("\n".join([repr(steps), *map(str, marks), *code, ""]), basename=name)


def test_rows_follow_any_lists() -> None:
    chance = random.Random(0)
    for _ in range(200):
        orders = [chance.sample(range(9), chance.randint(1, 9)) for _ in range(6)]
        rows, places, _ = union_rows(orders)
        for order, place in zip(orders, places, strict=True):
            assert [rows[place[key]] for key in order] == order
            assert [place[key] for key in order] == sorted(place.values())


# ---- cost ------------------------------------------------------------------------------------------------------------


def twelve_nodes_eight_frames() -> EditStepper:
    module = fx.symbolic_trace(
        nn.Sequential(
            nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 4)
        )
    )
    graph = module.graph
    steps = EditStepper(module, "The model as it was traced", title="Put three functions behind three layers")
    for at, function in ((2, torch.sin), (4, torch.cos), (6, torch.exp)):
        anchor = list(graph.nodes)[at]
        with graph.inserting_after(anchor):
            new = graph.call_function(function, (anchor,))
        steps.frame(f"{new.name} is there, and nobody reads it")
        anchor.replace_all_uses_with(new, delete_user_cb=lambda user, new=new: user is not new)
        steps.frame(f"{new.name} is read")
    module.recompile()
    steps.frame("forward runs all of them")
    return steps


def test_a_stepper_is_small() -> None:
    steps = twelve_nodes_eight_frames()
    html = steps._repr_html_()
    assert len(steps) == 8 and len(list(steps._subject.graph.nodes)) == 12
    stored = len(json.dumps({"text/html": html, "text/plain": repr(steps)}))
    packed = len(gzip.compress(html.encode()))
    assert stored < 150_000 and packed < 25_000, (stored, packed)


def test_a_large_graph_shows_what_changed_and_its_neighbours() -> None:
    graph = chain(1000, skip=5)
    nodes = list(graph.nodes)
    steps = EditStepper(graph, "first")
    with graph.inserting_after(nodes[500]):
        new = graph.create_node("call_function", torch.sin, (nodes[500],), name="new")
    steps.frame("inserted")
    nodes[501].replace_input_with(nodes[500], new)
    steps.frame("read")
    html = steps._repr_html_()
    frame = tree(steps)[2]
    assert {"new", nodes[500].name, nodes[501].name} <= set(table_of(frame)) and len(table_of(frame)) < 30
    assert "nodes not shown" in html and "Of 1000 nodes, those that change are shown" in html
    assert len(html) < 150_000


# ---- reproducibility -------------------------------------------------------------------------------------------------

_PRINT = """
import torch
from tests.stepping.test_edit_stepper import twelve_nodes_eight_frames
steps = twelve_nodes_eight_frames()
print(repr(steps))
print(steps._repr_html_())
"""


@pytest.mark.room(name="cold")
def test_same_bytes_whatever_the_hash_seed() -> None:
    folder = str(ROOT)
    outputs = {
        subprocess.run(
            [sys.executable, "-c", _PRINT],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": folder, "JPY_SESSION_NAME": "chapters/02_a.ipynb"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(outputs) == 1
    assert b'id="fx-02-a-1"' in outputs.pop()


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [*BROKEN, without_output], ids=lambda build: build.__name__)
def test_any_graph_is_shown(build) -> None:
    graph = build()
    steps = EditStepper(graph, "before")
    graph.placeholder("late")
    steps.frame("after")
    assert len(tree(steps)) == 2 and "late" in repr(steps)


def test_huge_strings_meta_tensors_and_html_in_captions() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    text = graph.call_function(print, (x, "<script>" + "long " * 10_000))
    steps = EditStepper(graph, "<b>bold</b> & co", title="<i>")
    graph.call_function(torch.add, (x, torch.ones(2, device="meta")))
    graph.output(text)
    steps.frame("meta")
    html = steps._repr_html_()
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; co" in html and "<b>bold" not in html and html.count("<script>") == 1
    assert len(html) < 60_000 and all(len(line) <= 100 for line in repr(steps).splitlines())
    assert len(tree(steps)) == 2


def test_thousands_of_frames_have_a_limit() -> None:
    graph = chain(5)
    steps = EditStepper(graph, "first")
    for at in range(1500):
        steps.frame(f"frame {at}")
    assert len(steps) == MAX_FRAMES
    assert f"! {1501 - MAX_FRAMES} more frames were not kept: a stepper holds {MAX_FRAMES}" in repr(steps)


def test_an_edit_inside_a_branch_is_shown() -> None:
    module = torch.export.export(Branches(), (torch.ones(2),)).module()
    before = EditStepper(module)
    steps = EditStepper(module)
    steps.frame("nothing yet")
    assert "inside" not in f"{before!r}{steps!r}" and "Inside" not in steps._repr_html_()
    [relu] = module.true_graph_0.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default)
    relu.target = torch.ops.aten.tanh.default
    module.true_graph_0.recompile()
    steps.frame("relu in the branch is tanh now")
    said = "inside true_graph_0: ≠ relu calls torch.ops.aten.tanh.default instead of torch.ops.aten.relu"
    assert repr(steps).count(said) == 1 and "inside false_graph_0" not in repr(steps)
    page = steps._repr_html_()
    assert page.count("Inside <code>true_graph_0</code>") == 1 and "Inside <code>false_graph_0</code>" not in page


class Branches(nn.Module):
    """A model in which one of two functions runs."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, torch.relu, torch.sin, (x,))
