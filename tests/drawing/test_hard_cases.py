"""Any graph can be drawn, even a broken one with hostile names, and its text is readable on any background."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable

import pytest
import torch
from torch import fx

from fxbook.drawing import draw, style
from fxbook.graph.record import record
from tests.drawing.graphs import (
    BROKEN,
    classes,
    html_of,
    parts,
    residual,
    words_in,
)


@pytest.mark.parametrize("build", BROKEN, ids=lambda build: build.__name__)
def test_broken_graphs_are_drawn(build: Callable[[], fx.Graph]) -> None:
    graph = build()
    drawing = draw(graph)
    table = html_of(drawing).find(".//table")
    assert table is not None and len(parts(drawing, "n")) == len(graph.nodes)
    assert BROKEN[build] in words_in(table)
    if BROKEN[build].startswith("!"):
        assert any("fx-broken" in classes(part) for part in parts(drawing, "n").values())


def test_an_empty_graph_says_so() -> None:
    drawing = draw(fx.Graph())
    assert "The graph has no nodes." in repr(drawing) and html_of(drawing).find("ul") is None


# ---- names and text --------------------------------------------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>",
    "a & b &amp; c",
    "quote\"'`",
    "back\\nslash\\N\\l\\G",
    "brace{a|b}<f0>",
    "naïve 模型 🙂 e\u0301",
    "line\nbreak\ttab\x00\x1b[31m\u202e",
    "<b>bold</b>",
    "]]><!--",
    "w" * 500,
    "模" * 200,
]


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_and_texts_survive(hostile: str) -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    method = graph.call_method(hostile, (x, hostile), {"key": hostile})
    method.name = hostile
    graph.output(method)
    drawing = draw(graph, title=hostile, marks={hostile: "added"})
    tree = html_of(drawing)
    assert not [part for part in tree.iter() if part.tag.rpartition("}")[2] in ("script", "b")]
    shown = words_in(tree)
    assert "\x00" not in shown and "\u202e" not in shown
    if len(hostile) < 100 and hostile.isprintable():
        assert shown.count(hostile) >= 4
    assert max(len(line) for line in repr(drawing).splitlines()) <= 100


def test_addresses_and_huge_texts_are_not_shown() -> None:
    class Held:
        def __call__(self, value: object, name: str) -> object:
            return value

        def __repr__(self) -> str:
            return f"<held at {id(self):#018x}>" + "y" * 100_000

    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.create_node("call_function", Held(), (x,), {"name": "z" * 100_000}, "held"))
    shown = draw(graph)._repr_html_()
    assert "held at 0x…" in shown and not re.search(r"0x[0-9a-f]{6}", shown) and len(shown) < 12_000


# ---- colours ---------------------------------------------------------------------------------------------------------


def test_no_fixed_text_colour_and_no_rule_without_prefix() -> None:
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", style())
    assert len(rules) > 20
    for selectors, body in rules:
        assert all(part.strip().startswith(".fx-") for part in selectors.split(",")), selectors
        assert not re.search(r"(^|;)color:(?!inherit)", body), body
    assert "fill=" not in draw(residual())._repr_html_() and len(style()) < 4_000


def times(factor: float) -> Callable[[torch.Tensor], torch.Tensor]:
    def product(x: torch.Tensor) -> torch.Tensor:
        return x * factor

    return product


def test_stale_code_is_detected_even_if_its_text_is_the_same() -> None:
    graph = fx.Graph()
    call = graph.call_function(times(2), (graph.placeholder("x"),))
    graph.output(call)
    module = fx.GraphModule({}, graph)
    assert not record(module).stale
    call.target = times(3)
    assert graph.python_code("self").src == module.code and record(module).stale
    module.recompile()
    assert not record(module).stale and not record(copy.deepcopy(module)).stale


def test_trailing_underscore_means_in_place() -> None:
    traced = fx.symbolic_trace(lambda x: ((x > 0) & (x < 1), x.add_(1), torch.relu_(x)))
    marked = [node.name for node in record(traced) if "in place" in node.notes]
    assert marked == ["add_", "relu_"]
