"""A report on wrong values names the first node whose value differs, if it is known."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case
from fxbook.cases.running import values_inside
from fxbook.checking import check_with
from fxbook.rules.predicates import same_output, same_result
from tests.checking.exercise_for_tests import DEEP, SHALLOW, an_exercise, changed


class Branches(nn.Module):
    """Two parallel layers whose sum is the input of a third."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right, self.last = (nn.Linear(3, 3) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        return self.last(torch.relu(self.left(x)) + torch.tanh(self.right(x)))


BRANCHES = Case("two branches", Branches, lambda: (torch.randn(2, 3),))
SAME = an_exercise("99-same", "edit", (BRANCHES, dataclasses.replace(BRANCHES, unseen=True)), (same_result,))
MESSAGE = "The result is not the one asked for: it holds different numbers. Node `{}` is the first whose value is not"


def node_of(module: fx.GraphModule, name: str) -> fx.Node:
    return next(node for node in module.graph.nodes if node.name == name)


def swaps(module: fx.GraphModule, name: str = "tanh", function: Any = torch.sin) -> None:
    node_of(module, name).target = function
    module.recompile()


def test_first_wrong_node_is_named() -> None:
    report = check_with(SAME, swaps, seed=1)
    assert (report.violated, report.node.name) == ("same_result", "tanh")
    assert report.message.startswith(MESSAGE.format("tanh"))
    # The message has the first wrong value, its index, the expected value, and the number of differences.
    model, inputs = report.case.model, report.case.inputs
    found, asked = (f(model.right(*inputs)).detach() for f in (torch.sin, torch.tanh))
    assert f": {found[0, 0]:.4g} at [0, 0] instead of {asked[0, 0]:.4g}; " in report.message
    assert report.message.endswith(" of 6 elements differ.")


def test_first_user_of_a_new_node_is_named() -> None:
    def doubles(module: fx.GraphModule) -> None:
        left = node_of(module, "left")
        with module.graph.inserting_after(left):
            double = module.graph.call_function(torch.mul, (left, 2))
        node_of(module, "relu").args = (double,)
        module.recompile()

    assert check_with(SAME, doubles, seed=1).node.name == "relu"


def test_copies_match_by_node_and_new_traces_by_name() -> None:
    def retraces(module: fx.GraphModule) -> fx.GraphModule:
        again = fx.symbolic_trace(module)
        swaps(again)
        return again

    def from_the_model(model: nn.Module) -> fx.GraphModule:
        traced = fx.symbolic_trace(model)
        swaps(traced, "relu", torch.abs)
        return traced

    assert check_with(SAME, retraces, seed=1).node.name == "tanh"
    assert check_with(changed(SAME, use="pass"), from_the_model, seed=1).node.name == "relu"


@pytest.mark.parametrize("why", ["built from nothing", "cannot be traced", "another rule"])
def test_output_is_reported_if_no_node_matches(why: str) -> None:
    def expected(model: Any, x: Tensor) -> Tensor:
        return model(x) if x.sum() > 1e9 else model(x) + 1

    def builds(model: nn.Module) -> fx.Graph:
        graph = fx.Graph()
        graph.output(graph.call_function(torch.relu, (graph.call_module("layers.0", (graph.placeholder("x"),)),)))
        return graph

    stacks = (SHALLOW, DEEP)
    exercise, answer = {
        "built from nothing": (an_exercise("99-x", "pass", stacks, (same_result,), returns=("Graph",)), builds),
        "cannot be traced": (changed(SAME, expected=expected), lambda module: None),
        "another rule": (changed(SAME, rules=(same_output,)), swaps),
    }[why]
    report = check_with(exercise, answer, seed=1)
    assert report.node.name == "output"
    assert "it holds different numbers: " in report.message and "elements differ." in report.message


def test_compared_values_are_copied_and_limited() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_method("add_", (x, 1)))
    values = values_inside(fx.GraphModule(nn.Module(), graph), (torch.zeros(2),), 1, 0)
    assert [value["data"] for value in values] == [[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]
    large = fx.symbolic_trace(nn.Sequential(nn.ReLU(), nn.ReLU()))
    assert values_inside(large, (torch.zeros(200_000),), 1, 0)[1:] == [None, None, None]


def test_nondeterministic_answer_is_still_rejected() -> None:
    assert check_with(SAME, lambda module: swaps(module, "relu", torch.rand_like), seed=1).violated == "same_result"
