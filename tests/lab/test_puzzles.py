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
MISTAKES = [
    (
        "another-function",
        [{"do": "target", "node": "relu", "target": "torch.tanh"}],
        "still runs the old code",
        "",
    ),
    ("another-function", [RECOMPILE], "No nodes call `torch.tanh`", ""),
    ("both-uses", [{"do": "erase", "node": "act"}], "Node `act` is still in the graph", "act"),
    ("break-the-cycle", [RECOMPILE], "`exp` uses `exp` before it is defined", "exp"),
    ("erase-by-hand", [{"do": "dead code"}, RECOMPILE], "without “Delete dead code”", ""),
    ("compile-once", [RECOMPILE, RECOMPILE], "You recompiled 2 times, but 1 is enough", ""),
    ("keep-a-check", [{"do": "dead code"}], "`sum_1` is gone", ""),
    ("back-to-the-code", [RECOMPILE], "without “Recompile”", ""),
    ("back-to-the-code", [{"do": "lint"}], "The call of `relu` is not the one in the code", "relu"),
    (
        "back-to-the-code",
        PUZZLES["back-to-the-code"].solution[:1],
        "The call of `add` is not the one in the code",
        "add",
    ),
    ("back-to-the-code", PUZZLES["back-to-the-code"].solution[:2], "The code does not have `neg`", "neg"),
    (
        "back-to-the-code",
        [{"do": "erase", "node": "neg"}, *PUZZLES["back-to-the-code"].solution[:2]],
        "`sin` does not stand where the code has it",
        "sin",
    ),
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
