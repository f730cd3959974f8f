"""An edit stepper records plain data, says what changed between frames, and shows it small and the same everywhere."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
import torch
from torch import fx, nn

from fxbook import EditStepper
from fxbook.stepping.edit.rows import heaviest_rising, union_rows
from fxbook.stepping.edit.snapshot import take
from fxbook.stepping.player import MAX_FRAMES, Frame, Panel, Player
from press import ROOT
from tests.drawing.graphs import BROKEN, chain, without_output


class Block(nn.Module):
    """A residual block: three nodes between input and output."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + x


def traced() -> fx.GraphModule:
    return fx.symbolic_trace(Block())


def frames_of(steps: EditStepper) -> list[list[str]]:
    """The frames as text: the caption, then the remarks."""
    frames: list[list[str]] = []
    for line in repr(steps).splitlines()[1:]:
        if re.match(r"\d+/\d+ ", line):
            frames.append([line.partition(" ")[2]])
        else:
            frames[-1].append(line.strip())
    return frames


def tree(steps: EditStepper) -> list[ET.Element]:
    """The frames of the HTML, which must be well-formed but for the script and the stills."""
    html = re.sub(r"<script>.*</script>|<img [^>]*>", "", steps._repr_html_(), flags=re.S)
    return ET.fromstring(html).findall(".//div[@class='fx-frame']")


def table_of(frame: ET.Element) -> dict[str, str]:
    """The rows of a frame's table, by name: their classes."""
    return {row.get("data-fx-name", ""): row.get("class", "") for row in frame.iter("tr") if row.get("data-fx-name")}


def code_of(frame: ET.Element) -> list[tuple[str, str]]:
    """The lines of a frame's code: sign and text."""
    lines = []
    for row in frame.find(".//pre").iter("span"):
        if "fx-row" in row.get("class", ""):
            words = "".join(row.itertext()).rstrip("\n")
            sign = row.findtext("span[@class='fx-gutter']") or ""
            lines.append((sign, words.removeprefix(sign)))
    return lines


# ---- what changed ----------------------------------------------------------------------------------------------------


def test_the_self_reading_graph_frame_by_frame() -> None:
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
    stale = "! stale: forward still runs the code compiled before; recompile() is due"
    assert frames_of(steps) == [
        ["As traced", "✓ lint finds no fault", "✓ forward is up to date with the graph"],
        ["nobody reads it", "+ tanh is added after x", "✓ lint finds no fault", stale],
        [
            "it uses itself",
            "↪ tanh uses tanh in place of x",
            "↪ linear uses tanh in place of x",
            "↪ add uses tanh in place of x",
            "! lint: Argument 'tanh' of Node 'tanh' was used before it has been defined!",
            stale,
        ],
        [
            "repaired",
            "↪ tanh uses x in place of tanh",
            "↻ forward is compiled anew",
            "✓ lint finds no fault",
            "✓ forward is up to date with the graph",
        ],
    ]
    frames = tree(steps)
    assert "fx-added" in table_of(frames[1])["tanh"]
    assert "fx-rewired" in table_of(frames[2])["add"] and "fx-broken" in table_of(frames[2])["tanh"]
    assert ("", "    add = relu + x;  relu = x = None") in code_of(frames[2]), "stale code is the old code"
    assert ("+", "    tanh = torch.tanh(x);  x = None") in code_of(frames[3])


def test_a_moved_node_is_the_one_that_torch_fx_moved() -> None:
    for mover, expected in (("first.append(second)", "second"), ("second.prepend(first)", "first")):
        graph = fx.Graph()
        x = graph.placeholder("x")
        second, first = graph.call_function(torch.cos, (x,)), graph.call_function(torch.sin, (x,))
        graph.output((first, second))
        steps = EditStepper(graph, "before")
        {"second": lambda a=first, b=second: a.append(b), "first": lambda a=first, b=second: b.prepend(a)}[expected]()
        steps.frame(mover)
        told = [line for line in frames_of(steps)[1] if line.startswith("↕")]
        name = {"second": "cos", "first": "sin"}[expected]
        assert len(told) == 1 and told[0].startswith(f"↕ {name} is moved"), told
        html = steps._repr_html_()
        assert "stood here" in html and "fx-jump" in html and "data-fx-from" in html


def test_removed_retargeted_renamed_and_other_arguments() -> None:
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
    told = [frame[1:-2] for frame in frames_of(steps)]
    assert told == [
        [],
        ["≠ relu calls torch.sigmoid, before: torch.relu"],
        ["≠ relu is now named gate"],
        ["↪ add no longer uses x"],
        ["≠ add has other arguments: operator.add(gate, 3.0)"],
        ["\N{MINUS SIGN} gate is removed", "↪ add uses linear in place of gate"],
    ]
    assert "fx-removed" in table_of(tree(steps)[-1])["gate"]


def test_a_node_that_stays_stays_in_its_row() -> None:
    orders = [[0, 1, 2], [0, 3, 1, 2], [0, 3, 2, 1], [0, 3, 1, 2], [0, 2]]
    rows, places, moved = union_rows(orders, lambda frame, key: 0.1 if key == 1 else 1.0)
    assert moved == [set(), set(), {1}, {1}, set()]
    for earlier, later in itertools.pairwise(places):
        stayed = set(earlier) & set(later)
        assert sum(earlier[key] != later[key] for key in stayed) <= 1
    for order, place in zip(orders, places, strict=True):
        assert [rows[at] for at in sorted(place.values())] == order, "rows follow the list in every frame"
    assert len(rows) == 5, "who goes back to an earlier place finds it again"


def test_rows_follow_any_lists() -> None:
    chance = random.Random(0)
    for _ in range(200):
        orders = [chance.sample(range(9), chance.randint(1, 9)) for _ in range(6)]
        rows, places, _ = union_rows(orders)
        for order, place in zip(orders, places, strict=True):
            assert [rows[place[key]] for key in order] == order
            assert [place[key] for key in order] == sorted(place.values())


def test_the_heaviest_rising_subsequence() -> None:
    assert heaviest_rising([], []) == []
    assert heaviest_rising([2, 0, 1], [1, 1, 1]) == [1, 2]
    assert heaviest_rising([2, 0, 1], [5, 1, 1]) == [0]


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


def test_recording_a_frame_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = EditStepper(chain(1000), "first")
    with monkeypatch.context() as recording:
        recording.setattr("fxbook.stepping.edit.stepper.play", lambda *_: pytest.fail("drawn"))
        steps.frame("again")
    assert len(steps) == 2 and "again" in repr(steps)


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
    assert "nodes not shown" in html and "Of 1000 nodes those that change are shown" in html
    assert len(html) < 150_000


# ---- the same everywhere ---------------------------------------------------------------------------------------------

_PRINT = """
import torch
from tests.stepping.test_edit_stepper import twelve_nodes_eight_frames
steps = twelve_nodes_eight_frames()
print(repr(steps))
print(steps._repr_html_())
"""


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


def test_two_steppers_share_no_id_and_carry_the_same_script() -> None:
    steps = twelve_nodes_eight_frames()
    one, two = steps._repr_html_(), steps._repr_html_()
    ids = [set(re.findall(r' id="([^"]+)"', html)) for html in (one, two)]
    assert ids[0] and not ids[0] & ids[1]
    parts = [re.findall(r"<(style|script)>(.*?)</\1>", html, re.S) for html in (one, two)]
    assert parts[0] == parts[1] and len(parts[0]) == 2
    assert "http" not in parts[0][0][1] + parts[0][1][1]


def test_the_text_tells_the_story_within_100_columns() -> None:
    module = traced()
    steps = EditStepper(module, "word " * 60, title="title " * 40)
    list(module.graph.nodes)[1].name = "a_name_of_many_columns_" * 8
    steps.frame("x" * 500)
    assert all(len(line) <= 100 for line in repr(steps).splitlines())


# ---- bad use ---------------------------------------------------------------------------------------------------------


def test_not_a_graph() -> None:
    with pytest.raises(TypeError, match="trace the model first"):
        EditStepper(Block(), "not traced")


def test_one_frame_is_shown() -> None:
    steps = EditStepper(traced(), "only")
    assert len(tree(steps)) == 1 and 'class="fx-count"' not in steps._repr_html_()


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


def test_a_player_says_what_it_needs() -> None:
    with pytest.raises(ValueError, match="record one before"):
        Player("none", [])
    with pytest.raises(ValueError, match="at most 100 frames, got 101"):
        Player("many", [Frame("one", [Panel("list", "", "")])] * 101)


def test_an_erased_node_stays_itself() -> None:
    graph = chain(4)
    keys: dict[fx.Node, int] = {}
    before = take(graph, "before", keys)
    node = list(graph.nodes)[2]
    node.replace_all_uses_with(list(graph.nodes)[1])
    graph.erase_node(node)
    after = take(graph, "after", keys)
    assert set(before.keys) - set(after.keys) == {keys[node]}
