"""Each puzzle begins unsolved, its solution solves it, and the script of the solution does the same to torch."""

from __future__ import annotations

from collections.abc import Iterator

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
    """The graph of a puzzle as the reader meets it, in torch and in the lab."""
    puzzle, module = PUZZLES[name], PUZZLES[name].traced()
    names = variables(module, {"x": torch.ones(3).double()})
    player.ask(data=data_of(module, {"x": torch.ones(3).double()}))
    for action in puzzle.setup:
        assert play(names, player.ask(action=action)["python"])[1] is None
    return module, names


@pytest.mark.parametrize("name", PUZZLES)
def test_a_puzzle_is_solved_by_its_solution_and_not_before(name: str, player: Player) -> None:
    puzzle = PUZZLES[name]
    _, names = module_of(name, player)
    lab = data_of(puzzle.traced(), {"x": torch.ones(3).double()})
    answer = player.ask(data={**lab, "setup": puzzle.setup, "puzzle": puzzle.data(name)})
    assert answer["fault"], "it is solved before anything is done"
    for at, action in enumerate(puzzle.solution):
        answer = player.ask(action=action)
        assert bool(answer.get("fault")) == (at < len(puzzle.solution) - 1), (action, answer["fault"])
    module = names["module"]
    exec(answer["script"], names)
    x = torch.tensor([0.5, -0.25, 3.0]).double()
    torch.testing.assert_close(module(x), puzzle.right()(x))


RECOMPILE = {"do": "recompile"}
MISTAKES = [
    (
        "another-function",
        [{"do": "target", "node": "relu", "target": "torch.tanh"}],
        "does not show your last edit",
        "",
    ),
    ("another-function", [RECOMPILE], "0 nodes call torch.tanh", ""),
    ("both-uses", [{"do": "erase", "node": "act"}], "1 node calls act, 0 should", "act"),
    ("break-the-cycle", [RECOMPILE], "was used before it has been defined", "exp"),
    ("erase-by-hand", [{"do": "dead code"}, RECOMPILE], "without dead code", ""),
    ("compile-once", [RECOMPILE, RECOMPILE], "1 is enough", ""),
    ("keep-a-check", [{"do": "dead code"}], "sum_1 is gone", ""),
    ("back-to-the-code", [RECOMPILE], "without recompile", ""),
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
