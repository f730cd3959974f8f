"""Puzzles begin unsolved, solutions solve them, and a solution's script does the same on torch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import fx

from fxbook.lab.lab import Lab
from fxbook.lab.puzzles import PUZZLES
from tests.lab.playing import NODE, Player, play, variables
from tests.lab.test_torch import data_of

pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node.js")


@pytest.fixture(scope="module")
def player() -> Iterator[Player]:
    player = Player()
    yield player
    player.close()


def module_of(name: str, player: Player) -> tuple[fx.GraphModule, dict]:
    """The graph of a puzzle as the reader gets it, in torch and in the lab."""
    puzzle, module = PUZZLES[name], PUZZLES[name].traced()
    names = variables(module, {"x": torch.ones(3).double()})
    player.ask(data=data_of(module, {"x": torch.ones(3).double()}))
    for action in puzzle.setup:
        assert play(names, player.ask(action=action)["python"])[1] is None
    return module, names


@pytest.mark.parametrize("name", PUZZLES)
def test_a_puzzle_is_solved_by_its_solution_and_not_before(name: str, player: Player) -> None:
    puzzle = PUZZLES[name]
    module, _ = module_of(name, player)
    lab = data_of(puzzle.traced(), {"x": torch.ones(3).double()})
    answer = player.ask(data={**lab, "setup": puzzle.setup, "puzzle": puzzle.data(name)})
    start, _ = Lab.start(name)
    assert answer["text"] == str(start.graph) == str(module.graph) and answer["code"] == start.code
    assert answer["fault"], "it is solved before anything is done"
    for at, action in enumerate(puzzle.solution):
        answer = player.ask(action=action)
        assert bool(answer.get("fault")) == (at < len(puzzle.solution) - 1), (action, answer["fault"])
    names: dict[str, Any] = {}
    exec(answer["script"], names)
    x = torch.tensor([0.5, -0.25, 3.0]).double()
    torch.testing.assert_close(names["module"](x), puzzle.right()(x))


RECOMPILE = {"do": "recompile"}


def make(op: str, target: str, *args: Any, after: str = "", before: str = "", **kwargs: Any) -> dict[str, Any]:
    beside = {"where": "after" if after else "before", "anchor": after or before} if after or before else {}
    return {"do": "create", "op": op, "target": target, "args": list(args), "kwargs": kwargs, **beside}


def call(target: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
    return make("call_function" if "." in target else "call_method", target, *args, **kwargs)


def node(name: str) -> dict[str, str]:
    return {"node": name}


def use(name: str, *args: Any) -> dict[str, Any]:
    return {"do": "set", "node": name, "args": list(args), "kwargs": {}}


def swap(old: str, new: str, *only: str) -> dict[str, Any]:
    return {"do": "replace", "old": old, "new": new, **({"only": list(only)} if only else {})}


def erase(*names: str) -> list[dict[str, Any]]:
    return [{"do": "erase", "node": name} for name in names]


def retarget(name: str, target: str) -> dict[str, Any]:
    return {"do": "target", "node": name, "target": target}


X, SIN, COS, UP, RELU = (node(name) for name in ("x", "sin", "cos", "up", "relu"))
SCALE, SCALED = make("get_attr", "scale", before="output"), make("call_module", "up", X, before="output")
DEAD_CODE = {"do": "dead code"}
RIGHT: dict[str, list[list[dict[str, Any]]]] = {
    "another-function": [
        [call("tanh", UP, after="up"), swap("relu", "tanh"), *erase("relu")],
        [call("torch.tanh", after="relu", input=UP), swap("relu", "tanh"), DEAD_CODE],
        [retarget("relu", "torch.tanh"), call("torch.exp", X, after="x"), *erase("exp")],
    ],
    "return-both": [
        [*erase("output"), make("output", "output", [UP, RELU])],
        [make("call_module", "up", X, after="relu"), use("output", [node("up_1"), RELU])],
    ],
    "four-opcodes": [
        [
            SCALE,
            SCALED,
            call("torch.mul", node("up"), before="output", other=node("scale")),
            use("output", node("mul")),
        ],
        [
            SCALE,
            SCALED,
            call("torch.mul", before="output", other=node("up"), input=node("scale")),
            swap("x", "mul", "output"),
        ],
        [SCALED, SCALE, call("mul", node("up"), node("scale"), before="output"), use("output", node("mul"))],
    ],
    "a-list-of-nodes": [
        [call("torch.cat", after="cos", tensors=[SIN, COS], dim=0), use("output", node("cat"))],
        [call("torch.cat", [SIN, COS], -1, after="cos"), use("output", node("cat"))],
        [
            call("torch.cat", [], after="cos"),
            use("cat", [SIN, COS]),
            {"do": "input", "node": "output", "old": "sin", "new": "cat"},
        ],
        [
            call("torch.cat", [SIN], after="cos"),
            call("torch.cat", [node("cat"), COS], before="output"),
            use("output", node("cat_1")),
        ],
    ],
    "one-anchor": [
        [
            call("torch.tan", SIN, after="sin"),
            call("torch.cos", SIN, after="sin"),
            use("tan", COS),
            use("output", node("tan")),
        ],
        [call("cos", SIN, before="output"), call("tan", COS, before="output"), use("output", node("tan"))],
        [
            *(call("torch.cos", SIN, after="sin"), call("torch.tan", COS, after="cos"), *erase("tan", "cos")),
            *(call("torch.cos", SIN, before="output"), call("tan", node("cos_1"), before="output")),
            use("output", node("tan_1")),
        ],
    ],
    "one-of-two-users": [
        [call("operator.neg", SIN, after="sin"), use("sub", SIN, node("neg"))],
        [call("neg", SIN, after="sin"), use("sub", SIN, node("neg"))],
        [call("torch.neg", after="sin", input=SIN), use("sub", SIN, node("neg"))],
        [call("operator.mul", SIN, -1, after="sin"), use("sub", SIN, node("mul"))],
        [call("torch.mul", SIN, after="sin", other={"float": -1.0}), use("sub", SIN, node("mul"))],
        [call("operator.sub", 0, SIN, after="sin"), use("sub", SIN, node("sub_1"))],
        [
            *(call("torch.neg", SIN, after="sin"), call("torch.sub", before="output", input=SIN, other=node("neg"))),
            *(swap("sub", "sub_1"), *erase("sub")),
        ],
        [call("neg", SIN, after="sin"), use("sub", SIN, node("neg")), retarget("sub", "operator.sub")],
    ],
    "break-the-cycle": [[use("exp", RELU)], [swap("exp", "relu", "exp")]],
    "both-uses": [
        [call("torch.nn.functional.gelu", after="act", input=UP), swap("act", "gelu"), DEAD_CODE],
        [
            *(
                call("torch.nn.functional.gelu", UP, after="up"),
                use("sin", node("gelu")),
                use("add", SIN, node("gelu")),
            ),
            *erase("act"),
        ],
    ],
    "erase-by-hand": [],
    "keep-a-check": [
        [call("torch._assert", after="sum_1", condition=node("sum_1"), message="not zero"), DEAD_CODE],
        [call("torch._assert", node("sum_1"), "", before="output"), DEAD_CODE],
    ],
    "back-to-the-code": [
        [
            *(*erase("neg"), {"do": "move", "node": "sin", "where": "before", "anchor": "add"}),
            *(use("add", RELU, SIN), retarget("relu", "torch.relu")),
        ],
        [
            *(DEAD_CODE, {"do": "move", "node": "up", "where": "before", "anchor": "sin"}),
            {"do": "move", "node": "relu", "where": "after", "anchor": "up"},
            *(use("add", RELU, SIN), retarget("relu", "torch.relu")),
        ],
    ],
    "compile-once": [
        [
            *(retarget("relu", "torch.tanh"), retarget("relu_1", "torch.tanh")),
            *(call("tanh", node("up_1"), after="up_1"), swap("relu_2", "tanh"), DEAD_CODE),
        ],
    ],
}


@pytest.mark.parametrize(("name", "way"), [(name, way) for name, ways in RIGHT.items() for way in ways])
def test_each_right_way_solves_a_puzzle(name: str, way: list, player: Player) -> None:
    puzzle = PUZZLES[name]
    lab = data_of(puzzle.traced(), {"x": torch.ones(3).double()})
    player.ask(data={**lab, "setup": puzzle.setup, "puzzle": puzzle.data(name)})
    for action in way + [RECOMPILE] * (name != "back-to-the-code"):
        answer = player.ask(action=action)
    assert not answer.get("error") and not answer.get("fault"), answer.get("fault")


MISTAKES = [
    (
        "another-function",
        [{"do": "target", "node": "relu", "target": "torch.tanh"}],
        "still runs the old code",
        "",
    ),
    ("another-function", [RECOMPILE], "No node calls `tanh` yet", ""),
    ("both-uses", [{"do": "erase", "node": "act"}], "Node `act` is still in the graph", "act"),
    ("break-the-cycle", [RECOMPILE], "`exp` uses `exp` before it is defined", "exp"),
    ("erase-by-hand", [{"do": "dead code"}, RECOMPILE], "without “Delete dead code”", ""),
    ("compile-once", [RECOMPILE, RECOMPILE], "You recompiled 2 times, but 1 is enough", ""),
    ("compile-once", [retarget("relu", "torch.tanh"), RECOMPILE], "You have recompiled already, but", ""),
    ("break-the-cycle", [use("exp", UP)], "The graph is not right yet. That was your one edit", "relu"),
    ("keep-a-check", [{"do": "dead code"}], "`sum_1` is gone", ""),
    ("back-to-the-code", [RECOMPILE], "without “Recompile”", ""),
    ("back-to-the-code", [{"do": "lint"}], "The call in `relu` differs from the one in the code", "relu"),
    (
        "back-to-the-code",
        PUZZLES["back-to-the-code"].solution[:1],
        "The call in `add` differs from the one in the code",
        "add",
    ),
    ("back-to-the-code", PUZZLES["back-to-the-code"].solution[:2], "The code does not have `neg`", "neg"),
    (
        "back-to-the-code",
        [{"do": "erase", "node": "neg"}, *PUZZLES["back-to-the-code"].solution[:2]],
        "`sin` is not where the code has it",
        "sin",
    ),
    ("four-opcodes", [SCALE], "No node uses `scale` yet", "scale"),
    ("a-list-of-nodes", [call("torch.cat", [], before="output")], "The list passed to `cat` is empty", "cat"),
    ("one-of-two-users", [retarget("sub", "torch.add"), RECOMPILE], "No node calls `sub` yet", ""),
    (
        "one-of-two-users",
        [call("operator.neg", SIN, after="sin"), {"do": "input", "node": "sub", "old": "sin", "new": "neg"}],
        "Look at `sub`: its `args[0]` is `neg`, which is not the right value there. After “Recompile”, the module will",
        "sub",
    ),
    ("return-both", [use("output", [RELU, UP]), RECOMPILE], "Look at `output`: its `args[0][0]` is `relu`", "output"),
    (
        "return-both",
        [call("operator.add", UP, RELU, before="output"), use("output", node("add")), RECOMPILE],
        "Look at the arguments of `output`. The module returns",
        "output",
    ),
    (
        "compile-once",
        [
            *(retarget(name, "torch.tanh") for name in ("relu", "relu_1", "relu_2")),
            *(call("torch.abs", node("relu_1"), after="relu_1"), use("up_1", node("abs_1"))),
        ],
        "Look at `up_1`: its `args[0]` is `abs_1`",
        "up_1",
    ),
    (
        "four-opcodes",
        [
            SCALE,
            SCALED,
            call("torch.mul", node("up"), node("up"), before="output"),
            *erase("scale"),
            swap("x", "mul", "output"),
        ],
        "Look at `mul`: its `args[0]` is `up`",
        "mul",
    ),
    ("keep-a-check", [call("torch._assert", node("sum_1"), "", before="output")], "Press “Delete dead code”", ""),
    (
        "one-anchor",
        [call("cos", SIN, after="sin"), call("tan", COS, after="cos")],
        "have different anchors: after `sin` and after `cos`",
        "",
    ),
    ("one-anchor", [call("tan", SIN, after="sin"), call("cos", SIN, after="sin")], "No node uses `cos` yet", "cos"),
    ("one-anchor", [call("cos", SIN), call("tan", COS)], "`cos` was created at the end of the list", "cos"),
]


@pytest.mark.parametrize(("name", "actions", "says", "node"), MISTAKES)
def test_the_first_mistake_is_told_at_its_node(
    name: str, actions: list, says: str, node: str | None, player: Player
) -> None:
    puzzle = PUZZLES[name]
    lab = data_of(puzzle.traced(), {"x": torch.ones(3).double()})
    player.ask(data={**lab, "setup": puzzle.setup, "puzzle": puzzle.data(name)})
    for action in actions:
        answer = player.ask(action=action)
    assert says in answer["fault"]["message"] and answer["fault"].get("node", "") == node


def test_a_lab_of_puzzles_names_their_graphs() -> None:
    assert repr(Lab.puzzles("one-anchor")) == "Two nodes, one anchor: x → sin → output"


def test_the_script_holds_a_refused_edit_as_a_comment_and_runs(player: Player) -> None:
    _, names = module_of("erase-by-hand", player)
    for action in ({"do": "erase", "node": "sin"}, *PUZZLES["erase-by-hand"].solution):
        answer = player.ask(action=action)
    assert "# graph.erase_node(sin)  # RuntimeError: Tried to erase Node sin" in answer["script"]
    exec(answer["script"], names)
    assert [node.name for node in names["graph"].nodes] == ["x", "relu", "output"]


def test_the_script_gives_a_new_input_the_numbers_of_the_lab(player: Player) -> None:
    _, names = module_of("another-function", player)
    new = {
        "do": "create",
        "op": "placeholder",
        "target": "w",
        "args": [],
        "kwargs": {},
        "where": "after",
        "anchor": "x",
    }
    for action in (new, {"do": "set", "node": "relu", "args": [{"node": "w"}], "kwargs": {}}, RECOMPILE, {"do": "run"}):
        answer = player.ask(action=action)
    exec(answer["script"], names)
    torch.testing.assert_close(names["inputs"]["w"], torch.ones(3).double())
