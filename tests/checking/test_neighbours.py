"""The neighbours of an operation are those that learners confuse with it, and tracing records a call to each."""

from __future__ import annotations

import operator
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn

from fxbook.cases.neighbours import near
from fxbook.graph.naming import target_name


class Beside(nn.Module):
    """Calls each neighbour with the same tensor for all its inputs."""

    def __init__(self, neighbours: nn.ModuleDict, inputs: int) -> None:
        super().__init__()
        self.near, self.inputs = neighbours, inputs

    def forward(self, x: Tensor) -> list[Tensor]:
        return [one(*[x] * self.inputs) for one in self.near.values()]


def called(noun: Any, *settings: Any, shape: tuple[int, ...] = (1, 2, 8, 8), inputs: int = 1, **named: Any) -> set[str]:
    """The classes, functions and methods that a traced model with all neighbours calls."""
    traced = fx.symbolic_trace(Beside(near(noun, *settings, on=shape, inputs=inputs, **named), inputs))
    traced(torch.randn(shape))
    calls = [node for node in traced.graph.nodes if node.op.startswith("call_")]
    held = {type(traced.get_submodule(node.target)).__name__ for node in calls if node.op == "call_module"}
    return held | {target_name(node) for node in calls if node.op != "call_module"}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (called(nn.ReLU), {"ReLU", "ReLU6", "PReLU", "relu", "torch.relu_", "Softsign"}),
        (called(nn.Linear, 4, 4, shape=(2, 4)), {"Bilinear", "Embedding", "fxbook.cases.neighbours.linear"}),
        (called(torch.softmax, dim=-1), {"Softmax", "LogSoftmax", "softmax"}),
        (called(operator.mul, shape=(4, 4), inputs=2), {"torch.mul", "operator.matmul"}),
    ],
    ids=["class", "class with a weight", "function", "operator"],
)
def test_neighbours_include_common_confusions(found: set[str], expected: set[str]) -> None:
    assert expected - found == set(), sorted(found)


def test_neighbours_exclude_what_the_task_excludes() -> None:
    assert not {"keyword", "torch_relu_"} & set(near(nn.ReLU, without=("keyword", "writes")))
    assert all(new is not old for new, old in zip(near(nn.ReLU).values(), near(nn.ReLU).values(), strict=True))
