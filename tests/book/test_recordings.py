"""`front_ends` reports the result of each front end, and never an error of its own."""

from __future__ import annotations

import torch
from torch import nn

from fxbook import front_ends

ROWS = torch.tensor([[1.0, -2.0], [3.0, 4.0]])


def by_value(x: torch.Tensor) -> torch.Tensor:
    return x + 1 if x.sum() > 0 else x - 1


def by_shape(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if x.shape[0] > 1 else x * 3


class Dropped(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.drop(x)


def test_branch_on_a_value_stops_all_except_the_compiler() -> None:
    found = front_ends(by_value, ROWS)
    assert list(found) == ["symbolic_trace", "make_fx", "torch.export", "torch.compile"]
    assert "inputs to control flow" in str(found["symbolic_trace"])
    assert [name for name in found if found[name].error is None] == ["torch.compile"]
    assert len(found["torch.compile"].graphs) == 2
    assert repr(found).splitlines()[-1] == "torch.compile   2 graphs of 7 nodes, right"


def test_the_run_on_other_inputs_decides_the_verdict() -> None:
    found = front_ends(by_shape, ROWS, then=(ROWS[:1],))
    assert found["make_fx"].verdict == "wrong"
    assert found["torch.compile"].verdict == "right"
    assert found["torch.export"].verdict.startswith("AssertionError: Guard failed")


def test_every_front_end_gets_the_same_random_numbers_inputs_and_program() -> None:
    model, state = Dropped(), torch.random.get_rng_state()
    assert {recording.verdict for recording in front_ends(model, ROWS).values()} == {"right"}
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not any("constant" in name for name in vars(model))
    assert front_ends(lambda x: x.add_(1), ROWS)["make_fx"].verdict == "right"
    assert ROWS[0, 0] == 1


class Scaled(nn.Module):
    factor = 2

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor


def test_a_later_change_does_not_reach_constants() -> None:
    found = front_ends(Scaled(), ROWS, change=lambda module: setattr(module, "factor", 3))
    assert [recording.outcome for recording in found.values()] == ["wrong", "wrong", "wrong", "right"]
    assert {recording.outcome for recording in front_ends(Scaled(), ROWS).values()} == {"right"}
    assert Scaled.factor == 2


def test_a_result_that_lost_its_gradient_is_wrong() -> None:
    def attached(x: torch.Tensor) -> torch.Tensor:
        apart = x.detach().requires_grad_()
        return (apart * apart).sum()

    found = front_ends(attached, torch.ones(2), gradients=True)
    assert {name: one.verdict for name, one in found.items()} == {
        "symbolic_trace": "right",
        "make_fx": "wrong gradients",
        "torch.export": "wrong gradients",
        "torch.compile": "right",
    }


def test_inputs_can_be_passed_by_name() -> None:
    class Scaled(nn.Module):
        def forward(self, *, x: torch.Tensor, options: dict[str, torch.Tensor]) -> torch.Tensor:
            return x - options["shift"] * options["scale"]

    options = {"scale": torch.full((2,), 3.0), "shift": torch.ones(2)}
    found = front_ends(Scaled(), kwargs={"options": options, "x": torch.zeros(2)}, gradients=True)
    assert [one.verdict for one in found.values()] == ["right"] * 4
    mixed = front_ends(lambda x, *, y: x - y, torch.ones(2), kwargs={"y": torch.ones(2)}, then=(torch.zeros(2),))
    assert [one.verdict for one in mixed.values()] == ["right"] * 4


def test_a_result_may_hold_words_and_dtypes() -> None:
    found = front_ends(lambda x: {"mean": x.mean(), "kind": "mean"}, ROWS)
    assert {recording.outcome for recording in found.values()} == {"right"}
    named = front_ends(lambda x: (x * 2, f"{x.shape}", x.dtype), ROWS)
    assert named["make_fx"].outcome == "right"
    assert named["symbolic_trace"].outcome == "wrong"
