"""A puzzle of the graph lab: a graph, a goal, the rules, and one solution."""

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
    """A goal for a graph.

    Attributes:
        section: the page and the heading that explain the puzzle, as in a link.
        title, wish, hint: the texts for the reader.
        lesson: the text after the solution.
        forward: the model, with one input ``x``; its layers are those of ``_Model``.
        wanted: what the module should compute at the end.
        rules: the other conditions, each a name and its arguments; the result and the recompile come last.
        solution: one correct way.
        setup: actions that are performed on the graph before the reader starts.
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
        """The graph, in a module with all layers and weights of the model, which new nodes may use."""
        model = _model(self.forward)
        traced = fx.symbolic_trace(model)
        for name, child in model.named_children():
            traced.add_submodule(name, child)
        traced.scale = model.scale
        return traced

    def start(self) -> fx.GraphModule:
        """The module as the reader gets it, not recompiled after ``setup``."""
        traced = self.traced()
        for action in self.setup:
            _perform(traced.graph, action)
        return traced

    def right(self) -> nn.Module:
        """A model that computes the required result."""
        return _model(self.wanted)

    def data(self, name: str) -> dict[str, Any]:
        """The data for the page: the goal, correct results for two inputs, and each node's value for the first."""
        model, tries = self.right(), []
        for x in (X, torch.tensor([-0.75, 1.5, 0.25], dtype=torch.float64)):
            tries.append({"inputs": {"x": numbers(x)}, "output": _encode(model(x))})
        rules = [list(rule) for rule in self.rules]
        return {
            **{"id": name, "wish": self.wish, "hint": self.hint, "lesson": self.lesson, "section": self.section},
            "rules": [*rules, ["result", *tries], ["compiled"]],
            "steps": _steps(model),
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
    # Processors differ in the last digits, and the page must be the same everywhere.
    return numbers(value.detach().mul(1e9).round().div(1e9))


def _steps(model: nn.Module) -> list[dict[str, Any]]:
    """The nodes of a correct graph: what each does, its inputs as places in this list, and its value."""
    traced = fx.symbolic_trace(model)
    run = fx.Interpreter(traced, garbage_collect_values=False)
    run.run(X)
    functions = {function: name.split(".")[-1] for name, (function, _) in FUNCTIONS.items()}
    places, steps = {node: at for at, node in enumerate(traced.graph.nodes)}, []
    for node in traced.graph.nodes:
        inputs: list[int] = []
        fx.map_arg((node.args, node.kwargs), lambda one, found=inputs: found.append(places[one]))
        match node.op:
            case "call_function":
                calls = functions[node.target]
            case "call_module":
                calls = type(traced.get_submodule(node.target)).__name__.lower()
            case _:
                calls = str(node.target) if node.op == "call_method" else ""
        value = {} if node.op == "output" else {"value": _encode(run.env[node])}
        steps.append({"calls": calls, "inputs": inputs, **value})
    return steps


def _perform(graph: fx.Graph, action: Action) -> None:
    """Perform an action from a ``setup`` in torch; a ``setup`` has only these kinds of action."""
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
