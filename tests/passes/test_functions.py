"""Functions that a pass creates anew in each run count as equal, unless their code or closures differ."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import fx, nn

from fxbook import check_pass
from fxbook.passes.functions import identity

MODULE = fx.symbolic_trace(lambda x: torch.relu(x) + 1)


def replacing(make: Callable[[], Any]) -> Callable[[fx.GraphModule], None]:
    def run(module: fx.GraphModule) -> None:
        for node in module.graph.find_nodes(op="call_function", target=torch.relu):
            node.target = make()
        module.recompile()

    return run


def holding(held: object) -> Callable[..., Any]:
    return lambda x: (x.clamp(min=0), held)[0]


def made_anew() -> list[Callable[[], Any]]:
    return [
        lambda: lambda x: x.clamp(min=0),
        lambda: lambda x, low=0: x.clamp(min=low),
        lambda: holding([1.0, {"scale": torch.ones(2)}]),
        lambda: holding(nn.ReLU()),
    ]


@pytest.mark.parametrize("make", made_anew(), ids=["lambda", "default", "closure", "module"])
def test_a_pass_that_creates_an_equal_function_in_each_run_is_deterministic(make: Callable[[], Any]) -> None:
    report = check_pass(replacing(make), MODULE, (torch.ones(2),))
    assert report, report


def test_a_pass_whose_closure_has_another_value_in_each_run_is_not() -> None:
    report = check_pass(replacing(lambda: holding(random.random())), MODULE, (torch.ones(2),), keep=["determinism"])
    assert [fault.invariant for fault in report.faults] == ["determinism"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda x: x + 1, lambda x: x + 1.0),
        (lambda x: x + 1, lambda x: x - 1),
        (lambda x: x.sin(), lambda x: x.cos()),
        (lambda x, by=1: x, lambda x, by=2: x),
        (functools.partial(torch.clamp, min=0), functools.partial(torch.clamp, min=1)),
        (holding(torch.ones(2)), holding(torch.zeros(2))),
        (torch.sin, torch.cos),
    ],
)
def test_functions_with_different_code_or_values_differ(one: Any, other: Any) -> None:
    assert identity(one) == identity(one) != identity(other)
