"""Valid and broken graphs to draw, and functions that find parts in their drawings."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import torch
from torch import fx, nn

from fxbook.drawing import Drawing


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.linear(x)) * self.scale
        return torch.where(mask, 0.0, hidden).reshape(-1) + x


def residual() -> fx.GraphModule:
    return fx.symbolic_trace(Residual())


def chain(count: int, skip: int = 1) -> fx.Graph:
    """A graph of ``count`` nodes; each uses the previous node and the node ``skip`` positions back."""
    graph = fx.Graph()
    nodes = [graph.placeholder("x")]
    while len(nodes) < count - 1:
        nodes.append(graph.call_function(torch.add, (nodes[-1], nodes[max(len(nodes) - skip, 0)])))
    graph.output(nodes[-1])
    return graph


def shuffled() -> fx.Graph:
    """Two branches with alternating nodes, an input that is defined last, and an unused value."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    left = graph.call_function(torch.sin, (x,))
    right = graph.call_function(torch.cos, (x,))
    left = graph.call_function(torch.neg, (left,))
    graph.call_function(torch.exp, (left,))
    right = graph.call_function(torch.abs, (right,))
    late = graph.placeholder("late")
    both = graph.call_function(torch.where, (late, right, left))
    graph.output(both)
    return graph


def html_of(drawing: Drawing) -> ET.Element:
    """The HTML of a drawing, which must also be well-formed XML."""
    return ET.fromstring(drawing._repr_html_())


def svg_of(drawing: Drawing) -> ET.Element:
    found = html_of(drawing).find(".//figure//{http://www.w3.org/2000/svg}svg")
    assert found is not None
    return found


def parts(drawing: Drawing, kind: str) -> dict[str, ET.Element]:
    """The groups of a kind (``n`` nodes, ``e`` edges, ``r`` rows of the rail), by the rest of their ids."""
    pattern = re.compile(rf"fx-[A-Za-z0-9-]+-\d+-{kind}-([0-9-]+)$")
    matches = [(pattern.match(part.get("id", "")), part) for part in svg_of(drawing).iter()]
    return {match[1]: part for match, part in matches if match}


def words_in(part: ET.Element) -> str:
    return " ".join(part.itertext())


def classes(part: ET.Element) -> list[str]:
    return part.get("class", "").split()


def empty() -> fx.Graph:
    return fx.Graph()


def only_output() -> fx.Graph:
    graph = fx.Graph()
    graph.output(None)
    return graph


def without_output() -> fx.Graph:
    graph = fx.Graph()
    graph.call_function(torch.sin, (graph.placeholder("x"),))
    return graph


def self_loop() -> fx.Graph:
    graph = chain(4)
    node = list(graph.nodes)[1]
    node.args = (node, node)
    return graph


def reversed_insertion() -> fx.Graph:
    graph = fx.Graph()
    sin = graph.call_function(torch.sin, (graph.placeholder("x"),))
    graph.output(sin)
    with graph.inserting_after(sin):
        cos = graph.call_function(torch.cos, (sin,))
        graph.call_function(torch.tan, (cos,))
    return graph


def reads_far_ahead() -> fx.Graph:
    graph = chain(9)
    nodes = list(graph.nodes)
    nodes[1].args = (nodes[7], nodes[6])
    return graph


def foreign_argument() -> fx.Graph:
    graph = without_output()
    list(graph.nodes)[1].args = (fx.Graph().placeholder("stranger"),)
    return graph


def erased_argument() -> fx.Graph:
    graph = chain(5)
    erased = list(graph.nodes)[2]
    users = dict(erased.users)
    erased.users.clear()
    graph.erase_node(erased)
    assert users
    return graph


def duplicate_names() -> fx.Graph:
    graph = chain(5)
    first, second = list(graph.nodes)[1:3]
    second.name = first.name
    return graph


def after_output() -> fx.Graph:
    graph = chain(4)
    graph.call_function(torch.sin, (next(iter(graph.nodes)),))
    return graph


def two_outputs() -> fx.Graph:
    graph = chain(4)
    graph.output(next(iter(graph.nodes)))
    return graph


BROKEN: dict[Callable[[], fx.Graph], str] = {
    empty: "",
    only_output: "",
    without_output: "",
    self_loop: "! uses itself",
    reversed_insertion: "! uses cos before it is defined",
    reads_far_ahead: "before it is defined",
    foreign_argument: "! uses stranger, which is not in this graph",
    erased_argument: "! uses add_1, which is not in this graph",
    duplicate_names: "! has the same name as node 1",
    after_output: "never runs: after the output",
    two_outputs: "never runs: after the output",
}
