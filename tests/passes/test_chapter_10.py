"""The recipes of chapter 10 also work on other models."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from torch import Tensor, fx, nn

from tests.notebooks import from_notebook

pytestmark = pytest.mark.room(name="passes")


class Sums(nn.Module):
    """Accumulates in a tensor that each call creates, but a trace creates only once."""

    def forward(self, x: Tensor) -> Tensor:
        total = torch.zeros(x.shape[1])
        for row in x:
            total += row
        return total


def test_a_trace_that_is_right_only_in_its_first_run_is_rejected() -> None:
    take = from_notebook("10_models_as_they_come", "take")
    with pytest.raises(AssertionError, match="item \\[1\\]"):
        take(Sums().eval(), x=torch.ones(2, 3))


class Counting(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        x += 1  # recorded as x + 1
        return x * 2


def test_a_trace_that_does_not_write_into_its_input_is_rejected() -> None:
    take = from_notebook("10_models_as_they_come", "take")
    with pytest.raises(AssertionError, match="'x'"):
        take(Counting().eval(), x=torch.ones(3))


class Pooled(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pooled = x.T.max(0).values
        return pooled.view(pooled.shape[0], 1)


def test_an_attribute_that_is_a_tensor_answers_for_its_shape() -> None:
    take = from_notebook("10_models_as_they_come", "take")
    assert len(take(Pooled().eval(), x=torch.ones(2, 3)).graph.nodes) == 6


@dataclasses.dataclass
class Hidden:
    value: Tensor


def test_a_result_that_pytree_does_not_know_cannot_be_copied() -> None:
    clones = from_notebook("10_models_as_they_come", "clones")
    value = torch.ones(2)
    copied = clones((value, {"more": [value, None, 1, "text"]}))
    value.add_(1)
    assert copied[0].tolist() == copied[1]["more"][0].tolist() == [1, 1]
    assert copied[1]["more"][1:] == [None, 1, "text"]
    with pytest.raises(TypeError, match="what is in a Hidden"):
        clones(Hidden(value))


def test_the_returned_result_of_a_layer_is_safe_from_an_in_place_layer_after_it() -> None:
    return_layers = from_notebook("10_models_as_they_come", "return_layers")
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True), nn.Linear(2, 2))
    traced = return_layers(fx.symbolic_trace(model), paths=["0", "2"]).graph_module
    x = torch.randn(16, 2)
    assert torch.equal(traced(x)["0"], model[0](x))
    assert torch.equal(traced(x)["2"], model(x))
