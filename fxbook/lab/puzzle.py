"""A puzzle of the graph lab: a graph, a wish, the rules, and one way to do it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import fx, nn

from fxbook.lab.data import FUNCTIONS, numbers

Action = Mapping[str, Any]
X = torch.tensor([0.5, -1.25, 2.0], dtype=torch.float64)
"""The input that *Run* passes."""


@dataclasses.dataclass(frozen=True)
class Puzzle:
    """A wish for a graph.

    Attributes:
        section: the page and the heading that explain it, as a link is written.
        title, wish, hint: what the reader sees.
        lesson: what the reader sees once the puzzle is solved.
        forward: the model, with one input ``x``; its layers are those of ``_Model``.
        wanted: what the module shall compute in the end.
        rules: what must hold besides, each a name and its arguments; the result comes last.
        solution: one right way.
        setup: what was done to the graph before the reader comes.
    """

    section: str
    title: str
    wish: str
    hint: str
    lesson: str
    forward: Callable[..., Any]
    wanted: Callable[..., Any]
    rules: Sequence[Sequence[Any]]
    solution: Sequence[Action]
    setup: Sequence[Action] = ()

    def traced(self) -> fx.GraphModule:
        """The graph, in a module that has all layers and weights of the model: new nodes may use them."""
        model = _model(self.forward)
        traced = fx.symbolic_trace(model)
        for name, child in model.named_children():
            traced.add_submodule(name, child)
        traced.scale = model.scale
        return traced

    def start(self) -> fx.GraphModule:
        """The module as the reader meets it, not recompiled after ``setup``."""
        traced = self.traced()
        for action in self.setup:
            _perform(traced.graph, action)
        return traced

    def right(self) -> nn.Module:
        """A model that computes what the module shall compute in the end."""
        return _model(self.wanted)

    def data(self, name: str) -> dict[str, Any]:
        """What the page needs: the wish, and what the module gives for two inputs when it is right."""
        model, tries = self.right(), []
        for x in (X, torch.tensor([-0.75, 1.5, 0.25], dtype=torch.float64)):
            tries.append({"inputs": {"x": numbers(x)}, "output": _encode(model(x))})
        rules = [list(rule) for rule in self.rules]
        return {
            **{"id": name, "wish": self.wish, "hint": self.hint, "lesson": self.lesson, "section": self.section},
            "rules": [*rules, ["result", *tries]],
        }


class _Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.act = nn.Linear(3, 3), nn.ReLU()
        self.scale = nn.Parameter(torch.tensor([2.0, 0.5, -1.0]))


def _model(forward: Callable[..., Any]) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return type("Model", (_Model,), {"forward": forward})().double().eval()


def _encode(value: Any) -> Any:
    if isinstance(value, list):
        return [_encode(item) for item in value]
    # Processors differ in the last digits, and the page is to be the same everywhere.
    return numbers(value.detach().mul(1e9).round().div(1e9))


def _perform(graph: fx.Graph, action: Action) -> None:
    """An action of a ``setup``, which has only these kinds, on torch."""
    nodes = {node.name: node for node in graph.nodes}
    args = tuple(nodes[item["node"]] for item in action.get("args", ()))
    match action["do"]:
        case "create":
            with graph.inserting_after(nodes[action["anchor"]]):
                graph.call_function(FUNCTIONS[action["target"]][0], args)
        case "replace":
            nodes[action["old"]].replace_all_uses_with(nodes[action["new"]])
        case "target":
            nodes[action["node"]].target = FUNCTIONS[action["target"]][0]
        case "set":
            nodes[action["node"]].args = args
        case "move":
            nodes[action["anchor"]].prepend(nodes[action["node"]])
