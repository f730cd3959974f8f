"""The puzzles of the graph lab, in the order of chapters 00 to 04.

Each rule is defined in ``page/puzzle.js``, and each action in ``page/actions.js``. The tests play every solution.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from fxbook.lab.puzzle import Action, Puzzle

_EDITS = ("create", "set", "replace", "input", "target", "erase", "move", "dead code")


def _create(op: str, target: str, *args: Any, where: str = "", anchor: str = "") -> Action:
    beside = {"where": where, "anchor": anchor} if anchor else {}
    return {"do": "create", "op": op, "target": target, "args": list(args), "kwargs": {}, **beside}


def _call(target: str, *args: Any, before: str = "", after: str = "") -> Action:
    return _create("call_function", target, *args, where="before" if before else "after", anchor=before or after)


def _node(name: str) -> dict[str, str]:
    return {"node": name}


def _minus_its_negative(_: nn.Module, x: torch.Tensor) -> torch.Tensor:
    wave = torch.sin(x)
    return torch.sub(wave, torch.neg(wave))


_RECOMPILE: Action = {"do": "recompile"}
_TIDY = (["lint"], ["no dead nodes"])

PUZZLES: dict[str, Puzzle] = {
    "another-function": Puzzle(
        section="00_first_graph#change-one-node",
        title="Call another function",
        wish="Make the module compute `tanh` instead of `relu`. Change what the node calls, then make the module "
        "run the change.",
        hint="Choose `relu`, then “Change what it calls”. The code panel shows what the module runs. When does the "
        "code change?",
        lesson="The node still has the name `relu`: changing what a node calls does not change its name.",
        forward=lambda self, x: torch.relu(self.up(x)),
        wanted=lambda self, x: torch.tanh(self.up(x)),
        rules=(["calls", "tanh", 1], *_TIDY),
        solution=({"do": "target", "node": "relu", "target": "torch.tanh"}, _RECOMPILE),
    ),
    "return-both": Puzzle(
        section="00_first_graph#every-node-carries-six-fields-and-its-users",
        title="Return two values",
        wish="Make the module return a list of two values: the result of `up`, then the result of `relu`.",
        hint="The `output` node has one argument: the value that the module returns.",
        lesson="An `output` node has one argument. That argument can be a list of nodes.",
        forward=lambda self, x: torch.relu(self.up(x)),
        wanted=lambda self, x: [self.up(x), torch.relu(self.up(x))],
        rules=_TIDY,
        solution=({"do": "set", "node": "output", "args": [[_node("up"), _node("relu")]], "kwargs": {}}, _RECOMPILE),
    ),
    "four-opcodes": Puzzle(
        section="01_node_creation#six-opcodes-six-methods",
        title="Three kinds of node",
        wish="Make the module return `scale * up(x)`. Fetch `scale`, call the layer `up`, multiply the two, and "
        "return the product.",
        hint="Create three nodes before `output`: a `get_attr`, a `call_module` and a `call_function`. Then change "
        "the argument of `output`.",
        lesson="Each opcode has its own method on the graph. The target gives a new node its name.",
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
        wish="Make the module return `sin(x)` and `cos(x)`, joined into one tensor by `torch.cat`.",
        hint="`torch.cat` takes a list, and the nodes go into that list.",
        lesson="`torch.fx` finds nodes inside a list: `cat` is now a user of both `sin` and `cos`.",
        forward=lambda self, x: (torch.sin(x), torch.cos(x))[0],
        wanted=lambda self, x: torch.cat([torch.sin(x), torch.cos(x)]),
        rules=(["calls", "cat", 1], *_TIDY),
        solution=(
            _call("torch.cat", [_node("sin"), _node("cos")], before="output"),
            {"do": "replace", "old": "sin", "new": "cat", "only": ["output"]},
            _RECOMPILE,
        ),
    ),
    "one-anchor": Puzzle(
        section="02_insertion_points#two-nodes-one-anchor",
        title="Two nodes, one anchor",
        wish="Run `cos` and then `tan` after `sin`, so that the module returns `tan(cos(sin(x)))`. Insert both "
        "nodes next to the same anchor. The anchor is the node that you choose before you insert.",
        hint="A node that you insert after the anchor pushes the earlier ones along. A node that you insert before "
        "it does not.",
        lesson="Nodes inserted before an anchor keep the order in which you create them. Inserted after it, they end "
        "up reversed.",
        forward=lambda self, x: torch.sin(x),
        wanted=lambda self, x: torch.tan(torch.cos(torch.sin(x))),
        rules=(["order", "sin", "cos", "tan"], ["one anchor"], *_TIDY),
        solution=(
            _call("torch.cos", _node("sin"), before="output"),
            _call("torch.tan", _node("cos"), before="output"),
            {"do": "set", "node": "output", "args": [_node("tan")], "kwargs": {}},
            _RECOMPILE,
        ),
    ),
    "one-of-two-users": Puzzle(
        section="02_insertion_points#a-new-node-needs-a-user",
        title="Negate one of two uses",
        wish="`sub` uses `sin` twice. Make the module return `sin(x) - (-sin(x))`: negate only the second use.",
        hint="Create `neg` after `sin`. Then change one of the two arguments of `sub`.",
        lesson="`sub.replace_input_with` and `sin.replace_all_uses_with` could not do this. Each replaces every use of "
        "`sin` in `sub`, so both arguments would change.",
        forward=lambda self, x: (lambda wave: torch.sub(wave, wave))(torch.sin(x)),
        wanted=_minus_its_negative,
        rules=(["calls", "sub", 1], *_TIDY),
        solution=(
            _call("torch.neg", _node("sin"), after="sin"),
            {"do": "set", "node": "sub", "args": [_node("sin"), _node("neg")], "kwargs": {}},
            _RECOMPILE,
        ),
    ),
    "break-the-cycle": Puzzle(
        section="02_insertion_points#replace-uses-without-a-cycle",
        title="Break this cycle",
        wish="Somebody inserted `exp` after `relu` and then replaced all uses of `relu`, so now `exp` uses itself. "
        "Make the module return `exp(relu(up(x)))` with a single edit, then recompile.",
        hint="One argument of one node is wrong. Which node should `exp` use?",
        lesson="`replace_all_uses_with` changes every user, and `exp` was a user of `relu` too. To avoid the cycle, "
        "exempt the new node.",
        forward=lambda self, x: torch.relu(self.up(x)),
        wanted=lambda self, x: torch.exp(torch.relu(self.up(x))),
        rules=(["at most", 1, *_EDITS], *_TIDY),
        setup=(_call("torch.exp", _node("relu"), after="relu"), {"do": "replace", "old": "relu", "new": "exp"}),
        solution=({"do": "input", "node": "exp", "old": "exp", "new": "relu"}, _RECOMPILE),
    ),
    "both-uses": Puzzle(
        section="03_replacement#three-steps-in-this-order",
        title="Replace a layer and leave nothing behind",
        wish="`act` is a ReLU layer with two users. Make both of them use a call to `torch.nn.functional.gelu` "
        "instead, and leave nothing of the ReLU in the graph.",
        hint="Take three steps: create the new node, replace the uses, erase the old node.",
        lesson="Create the new node, replace the uses, erase the old node. Erasing comes last, because a node that "
        "has users cannot be erased.",
        forward=lambda self, x: (lambda hidden: torch.add(torch.sin(hidden), hidden))(self.act(self.up(x))),
        wanted=lambda self, x: (lambda hidden: torch.sin(hidden) + hidden)(nn.functional.gelu(self.up(x))),
        rules=(["gone", "relu"], *_TIDY),
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
        wish="The output uses only `relu`, so nobody needs `sin`, `cos` and `tan`. Erase the three nodes one by "
        "one with “Erase”.",
        hint="A node that has a user cannot be erased. Which of the three has none?",
        lesson="You erased from the last node to the first. “Delete dead code” does the same in one step.",
        forward=lambda self, x: (torch.relu(x), torch.tan(torch.cos(torch.sin(x))))[0],
        wanted=lambda self, x: torch.relu(x),
        rules=(["never", "dead code"], ["gone", "tan"], ["gone", "cos"], ["gone", "sin"], *_TIDY),
        solution=(*({"do": "erase", "node": name} for name in ("tan", "cos", "sin")), _RECOMPILE),
    ),
    "keep-a-check": Puzzle(
        section="03_replacement#what-removing-dead-code-deletes",
        title="Keep a node without users",
        wish="No node uses `sum_1`, so “Delete dead code” would delete it. Create a node that keeps `sum_1` in the "
        "graph, then delete the dead code. The module must still return `relu(x)`. The section names a "
        "function whose calls are never deleted.",
        hint="A call to `torch._assert` counts as a side effect: it stays even if nothing uses it, and so does its "
        "condition.",
        lesson="A call to `torch._assert` counts as a side effect, so dead code elimination keeps it and every node "
        "that it depends on.",
        forward=lambda self, x: (torch.relu(x), torch.abs(x).sum())[0],
        wanted=lambda self, x: torch.relu(x),
        rules=(["kept", "sum_1"], *_TIDY, ["did", "dead code"]),
        solution=(_call("torch._assert", _node("sum_1"), "not zero", after="sum_1"), {"do": "dead code"}, _RECOMPILE),
    ),
    "back-to-the-code": Puzzle(
        section="04_recompile#who-sees-an-edit-at-once",
        title="What the code does not show yet",
        wish="The graph was edited four times but not recompiled. Reverse the four edits by hand, until the graph "
        "matches the code again. Do not press “Recompile”.",
        hint="Compare the code with the list of nodes, line by line. Look for a different call, swapped arguments, "
        "a different order, and an extra node.",
        lesson="An edit changes the graph at once. Only `recompile` changes the code that the module runs.",
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
        wish="Turn all three ReLUs into `tanh`, and recompile only once.",
        hint="Nothing runs the code between the edits, so it can stay stale until the last one.",
        lesson="You do not have to recompile after each edit. One `recompile` at the end compiles all of them.",
        forward=lambda self, x: torch.relu(self.up(torch.relu(self.up(torch.relu(x))))),
        wanted=lambda self, x: torch.tanh(self.up(torch.tanh(self.up(torch.tanh(x))))),
        rules=(["at most", 1, "recompile"], ["calls", "tanh", 3], *_TIDY),
        solution=(
            *({"do": "target", "node": name, "target": "torch.tanh"} for name in ("relu", "relu_1", "relu_2")),
            _RECOMPILE,
        ),
    ),
}
