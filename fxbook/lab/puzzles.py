"""The puzzles of the graph lab, in the order of chapters 00 to 04: a graph, a wish, the rules, and one way to do it.

Each rule is one of ``page/puzzle.js``; ``actions`` are those of ``page/actions.js``. The tests play every solution.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import fx, nn

from fxbook.lab.data import numbers

Action = Mapping[str, Any]
_X = torch.tensor([0.5, -1.25, 2.0], dtype=torch.float64)
_EDITS = ("create", "set", "replace", "input", "target", "erase", "move", "dead code")


@dataclasses.dataclass(frozen=True)
class Puzzle:
    """A wish for a graph.

    Attributes:
        section: the page and the heading that explain it, as a link is written.
        title, wish, hint: what the reader sees.
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

    def right(self) -> nn.Module:
        """A model that computes what the module shall compute in the end."""
        return _model(self.wanted)

    def data(self, name: str) -> dict[str, Any]:
        """What the page needs: the wish, and what the module gives for two inputs when it is right."""
        model, tries = self.right(), []
        for x in (_X, torch.tensor([-0.75, 1.5, 0.25], dtype=torch.float64)):
            tries.append({"inputs": {"x": numbers(x)}, "output": _encode(model(x))})
        rules = [list(rule) for rule in self.rules]
        return {
            **{"id": name, "wish": self.wish, "hint": self.hint, "section": self.section},
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


def _create(op: str, target: str, *args: Any, where: str = "", anchor: str = "") -> Action:
    beside = {"where": where, "anchor": anchor} if anchor else {}
    return {"do": "create", "op": op, "target": target, "args": list(args), "kwargs": {}, **beside}


def _call(target: str, *args: Any, before: str = "", after: str = "") -> Action:
    return _create("call_function", target, *args, where="before" if before else "after", anchor=before or after)


def _node(name: str) -> dict[str, str]:
    return {"node": name}


_RECOMPILE: Action = {"do": "recompile"}
_TIDY = (["lint"], ["no dead nodes"], ["compiled"])

PUZZLES: dict[str, Puzzle] = {
    "another-function": Puzzle(
        section="00_first_graph#change-one-node",
        title="Call another function",
        wish="Let the module compute tanh instead of ReLU: change what the node calls, and make the module run it.",
        hint="Choose relu, then Change what it calls. The code panel shows what the module runs. When does it change?",
        forward=lambda self, x: torch.relu(self.up(x)),
        wanted=lambda self, x: torch.tanh(self.up(x)),
        rules=(["count", "torch.tanh", 1], *_TIDY),
        solution=({"do": "target", "node": "relu", "target": "torch.tanh"}, _RECOMPILE),
    ),
    "return-both": Puzzle(
        section="00_first_graph#every-node-carries-six-fields-and-its-users",
        title="Return two values",
        wish="Let the module return a list of two values: the result of up, then the result of relu.",
        hint="The output is a node, and the returned value is its only argument.",
        forward=lambda self, x: torch.relu(self.up(x)),
        wanted=lambda self, x: [self.up(x), torch.relu(self.up(x))],
        rules=_TIDY,
        solution=({"do": "set", "node": "output", "args": [[_node("up"), _node("relu")]], "kwargs": {}}, _RECOMPILE),
    ),
    "four-opcodes": Puzzle(
        section="01_node_creation#six-opcodes-six-methods",
        title="A node of each kind",
        wish="Let the module return scale * up(x): fetch scale, call the layer up, multiply, return the product.",
        hint="Three new nodes, each before output: get_attr, call_module, call_function. Then the argument of output.",
        forward=lambda self, x: x,
        wanted=lambda self, x: self.scale * self.up(x),
        rules=_TIDY,
        solution=(
            _create("get_attr", "scale", where="before", anchor="output"),
            _create("call_module", "up", _node("x"), where="before", anchor="output"),
            _call("operator.mul", _node("scale"), _node("up"), before="output"),
            {"do": "set", "node": "output", "args": [_node("mul")], "kwargs": {}},
            _RECOMPILE,
        ),
    ),
    "a-list-of-nodes": Puzzle(
        section="01_node_creation#arguments-nest-then-freeze",
        title="A list as an argument",
        wish="Let the module return sin(x) and cos(x), joined into one tensor by torch.cat.",
        hint="torch.cat takes one argument, a list, and the nodes are inside it.",
        forward=lambda self, x: (torch.sin(x), torch.cos(x))[0],
        wanted=lambda self, x: torch.cat([torch.sin(x), torch.cos(x)]),
        rules=(["count", "torch.cat", 1], *_TIDY),
        solution=(
            _call("torch.cat", [_node("sin"), _node("cos")], before="output"),
            {"do": "replace", "old": "sin", "new": "cat", "only": ["output"]},
            _RECOMPILE,
        ),
    ),
    "one-anchor": Puzzle(
        section="02_insertion_points#two-nodes-one-anchor",
        title="Two nodes, one anchor",
        wish="Run cos and then tan after sin, so that the module returns tan(cos(sin(x))). Insert both next to the "
        "same node, the anchor: it is the node you choose before you insert.",
        hint="A node inserted after an anchor pushes earlier ones along. A node inserted before it does not.",
        forward=lambda self, x: torch.sin(x),
        wanted=lambda self, x: torch.tan(torch.cos(torch.sin(x))),
        rules=(["order", "torch.sin", "torch.cos", "torch.tan"], ["one anchor"], *_TIDY),
        solution=(
            _call("torch.cos", _node("sin"), before="output"),
            _call("torch.tan", _node("cos"), before="output"),
            {"do": "set", "node": "output", "args": [_node("tan")], "kwargs": {}},
            _RECOMPILE,
        ),
    ),
    "one-of-two-users": Puzzle(
        section="02_insertion_points#a-new-node-needs-a-user",
        title="For one of two uses",
        wish="sub uses sin twice. Let the module return sin(x) - (-sin(x)): negate only the second of the two.",
        hint="Create neg after sin. Then change the arguments of sub: one of the two changes, and the other stays.",
        forward=lambda self, x: (lambda wave: torch.sub(wave, wave))(torch.sin(x)),
        wanted=lambda self, x: torch.sin(x) + torch.sin(x),
        rules=(["count", "torch.neg", 1], ["count", "torch.sub", 1], *_TIDY),
        solution=(
            _call("torch.neg", _node("sin"), after="sin"),
            {"do": "set", "node": "sub", "args": [_node("sin"), _node("neg")], "kwargs": {}},
            _RECOMPILE,
        ),
    ),
    "break-the-cycle": Puzzle(
        section="02_insertion_points#replace-uses-without-a-cycle",
        title="Break this cycle",
        wish="Someone put exp after relu and then replaced all uses of relu, so exp uses itself. Make the module "
        "return exp(relu(up(x))) with one edit, then recompile.",
        hint="One argument of one node is wrong. Which node should exp use?",
        forward=lambda self, x: torch.relu(self.up(x)),
        wanted=lambda self, x: torch.exp(torch.relu(self.up(x))),
        rules=(["at most", 1, *_EDITS], ["lint"], ["no dead nodes"], ["compiled"]),
        setup=(_call("torch.exp", _node("relu"), after="relu"), {"do": "replace", "old": "relu", "new": "exp"}),
        solution=({"do": "input", "node": "exp", "old": "exp", "new": "relu"}, _RECOMPILE),
    ),
    "both-uses": Puzzle(
        section="03_replacement#three-steps-in-this-order",
        title="Replace a layer and leave nothing over",
        wish="Replace the layer act, a ReLU, with a call of torch.nn.functional.gelu for both of its users, and leave "
        "nothing of the ReLU in the graph.",
        hint="Three steps: create the new node, replace the uses, erase the old node.",
        forward=lambda self, x: (lambda hidden: torch.add(torch.sin(hidden), hidden))(self.act(self.up(x))),
        wanted=lambda self, x: (lambda hidden: torch.sin(hidden) + hidden)(nn.functional.gelu(self.up(x))),
        rules=(["count", "act", 0], *_TIDY),
        solution=(
            _call("torch.nn.functional.gelu", _node("up"), after="up"),
            {"do": "replace", "old": "act", "new": "gelu"},
            {"do": "erase", "node": "act"},
            _RECOMPILE,
        ),
    ),
    "erase-by-hand": Puzzle(
        section="03_replacement#erasing-refuses-then-forgets",
        title="Erase three nodes by hand",
        wish="The output uses relu, so sin, cos and tan are useless. Erase them one by one with Erase.",
        hint="A node with a user cannot be erased. Which of the three has no user?",
        forward=lambda self, x: (torch.relu(x), torch.tan(torch.cos(torch.sin(x))))[0],
        wanted=lambda self, x: torch.relu(x),
        rules=(["never", "dead code"], *_TIDY),
        solution=(*({"do": "erase", "node": name} for name in ("tan", "cos", "sin")), _RECOMPILE),
    ),
    "keep-a-check": Puzzle(
        section="03_replacement#what-removing-dead-code-deletes",
        title="A node that stays without users",
        wish="No node uses sum_1, but Delete dead code must keep it, and the module must still return relu(x). "
        "Create a node that keeps it, then delete the dead code. The section names a function that is never deleted.",
        hint="torch._assert counts as a side effect: a call stays even if nothing uses it, and so does its condition.",
        forward=lambda self, x: (torch.relu(x), torch.abs(x).sum())[0],
        wanted=lambda self, x: torch.relu(x),
        rules=(["did", "dead code"], ["kept", "sum_1"], ["lint"], ["no dead nodes"], ["compiled"]),
        solution=(_call("torch._assert", _node("sum_1"), "not zero", after="sum_1"), {"do": "dead code"}, _RECOMPILE),
    ),
    "back-to-the-code": Puzzle(
        section="04_recompile#who-sees-an-edit-at-once",
        title="What the code does not show yet",
        wish="The graph was edited four times but never recompiled. Reverse the four edits yourself, so that the graph "
        "says what the code says. Do not press Recompile.",
        hint="Compare the code with the list, line by line: a call, an argument, the order, a node too many.",
        forward=lambda self, x: torch.add(torch.relu(self.up(x)), torch.sin(x)),
        wanted=lambda self, x: torch.add(torch.relu(self.up(x)), torch.sin(x)),
        rules=(["never", "recompile"], ["lint"], ["as the code"]),
        setup=(
            {"do": "target", "node": "relu", "target": "torch.tanh"},
            {"do": "set", "node": "add", "args": [_node("sin"), _node("relu")], "kwargs": {}},
            {"do": "move", "node": "sin", "where": "before", "anchor": "up"},
            _call("torch.neg", _node("add"), after="add"),
        ),
        solution=(
            {"do": "target", "node": "relu", "target": "torch.relu"},
            {"do": "set", "node": "add", "args": [_node("relu"), _node("sin")], "kwargs": {}},
            {"do": "move", "node": "sin", "where": "after", "anchor": "relu"},
            {"do": "erase", "node": "neg"},
        ),
    ),
    "compile-once": Puzzle(
        section="04_recompile#compile-once-at-the-end",
        title="Three edits, one recompile",
        wish="Turn all three ReLUs into tanh, and recompile only once.",
        hint="Nothing runs the code between two edits, so it may stay stale until the last one.",
        forward=lambda self, x: torch.relu(self.up(torch.relu(self.up(torch.relu(x))))),
        wanted=lambda self, x: torch.tanh(self.up(torch.tanh(self.up(torch.tanh(x))))),
        rules=(["at most", 1, "recompile"], ["count", "torch.tanh", 3], *_TIDY),
        solution=(
            *({"do": "target", "node": name, "target": "torch.tanh"} for name in ("relu", "relu_1", "relu_2")),
            _RECOMPILE,
        ),
    ),
}
