"""What chapter 13 ends with keeps inputs, constants and weights apart, and holds a graph to the shapes it is for."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn

from tests.taken import taken

pytestmark = pytest.mark.room(name="passes")

aten = torch.ops.aten


@fx.wrap
def plus_two(x: Tensor) -> Tensor:
    return x + torch.tensor([2.0])


# ---- names -----------------------------------------------------------------------------------------------------------


def test_a_constant_of_the_second_retrace_does_not_take_the_name_of_the_first() -> None:
    lower, x = taken("13_retrace_and_meta", "lower"), torch.ones(2)
    once = lower(fx.symbolic_trace(lambda x: plus_two(torch.relu(x))), x)
    table = {aten.relu.default: lambda x: x.clamp(min=0) * torch.tensor([3.0])}
    twice = lower(once, x, table=table)
    assert torch.equal(twice(x), torch.full((2,), 5.0))
    assert len(list(twice.buffers())) == 2


# ---- inputs and results ----------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Found:
    """A result of a class that pytree does not know."""

    scores: Tensor


def test_a_class_that_pytree_does_not_know_is_not_made_a_constant() -> None:
    class Finding(nn.Module):
        def forward(self, x: Tensor) -> Found:
            return Found(x + 1)

    lower, traced = taken("13_retrace_and_meta", "lower"), fx.symbolic_trace(Finding())
    with pytest.raises(ValueError, match="register the result's class"):
        lower(traced, torch.ones(2))
    torch.export.register_dataclass(Found)
    assert torch.equal(lower(traced, torch.ones(2))(torch.zeros(2)).scores, torch.ones(2))


@pytest.mark.parametrize("mode", ["real", "symbolic"])
def test_one_tensor_for_two_inputs_is_refused(mode: str) -> None:
    lower, x = taken("13_retrace_and_meta", "lower"), torch.rand(2, 2)
    traced = fx.symbolic_trace(lambda a, b: a - b)
    with pytest.raises(ValueError, match="clone the input"):
        lower(traced, x, x, mode=mode)
    lowered = lower(traced, x, x.clone(), mode=mode)
    torch.testing.assert_close(lowered(x, x + 1), torch.full((2, 2), -1.0))


@pytest.mark.parametrize("mode", ["real", "symbolic"])
@pytest.mark.parametrize("held", ["weight", "running_mean"])
def test_a_weight_for_an_input_is_refused(held: str, mode: str) -> None:
    norm: Any = nn.BatchNorm1d(4).eval()
    traced = fx.symbolic_trace(nn.Sequential(norm))
    value = getattr(norm, held)
    with pytest.raises(ValueError, match="clone the input"):
        taken("13_retrace_and_meta", "lower")(traced, value, mode=mode)
