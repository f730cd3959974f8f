"""Bisection finds the pass that breaks a graph, and the change of that pass."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, fx, nn
from torch.fx.passes.infra.pass_base import PassResult

from fxbook import bisect, bisect_changes, diff
from tests.passes import wrong


def traced() -> fx.GraphModule:
    return fx.symbolic_trace(lambda x: torch.relu(x) + torch.relu(x - 1) * torch.relu(x - 2))


X = torch.linspace(-3, 3, 7)


def right(module: fx.GraphModule) -> bool:
    return torch.equal(module(X), traced()(X))


def breaks(module: fx.GraphModule) -> PassResult:
    for node in module.graph.find_nodes(op="call_function", target=torch.relu):
        node.target = torch.tanh
    module.recompile()
    return PassResult(module, True)


def copies(module: fx.GraphModule) -> fx.GraphModule:
    """A pass that returns a different module."""
    return fx.GraphModule(module, module.graph)


@pytest.mark.parametrize("at", range(6))
@pytest.mark.parametrize("other", [wrong.nothing, copies, lambda module: None])
def test_the_pass_that_breaks_is_found(at: int, other: object) -> None:
    passes = [other] * 6
    passes[at] = breaks
    module = traced()
    found = bisect(module, passes, right)
    assert (found.index, "breaks" in found.name) == (at, True)
    assert right(found.before) and not right(found.after) and right(module)
    assert {name: set(aspects) for name, aspects in diff(found.before, found.after).changed.items()} == {
        "relu": {"target"},
        "relu_1": {"target"},
        "relu_2": {"target"},
    }


def test_bisecting_needs_few_checks() -> None:
    asked = []
    passes = [wrong.nothing] * 1000
    passes[700] = breaks
    assert bisect(traced(), passes, lambda module: asked.append(1) or right(module)).index == 700
    assert len(asked) <= 12


def test_passes_that_break_nothing() -> None:
    assert bisect(traced(), [wrong.nothing, wrong.nothing], right) is None
    assert bisect(traced(), [], right) is None


def test_a_module_that_is_wrong_from_the_start_is_rejected() -> None:
    with pytest.raises(ValueError, match="wrong before anything is done"):
        bisect(traced(), [breaks], lambda module: False)


def test_a_module_that_raises_is_wrong() -> None:
    def unmakes(module: fx.GraphModule) -> None:
        next(iter(module.graph.find_nodes(op="call_function", target=torch.relu))).args = ()
        module.recompile()

    assert bisect(traced(), [wrong.nothing, unmakes], right).index == 1


def relu_to_clamp(module: fx.GraphModule, at_most: int) -> PassResult:
    """Wrong for the third relu."""
    found = module.graph.find_nodes(op="call_function", target=torch.relu)[:at_most]
    for number, node in enumerate(found):
        node.target, node.args = torch.clamp_min, (node.args[0], 0 if number < 2 else 1)
    module.recompile()
    return PassResult(module, bool(found))


def test_the_change_that_breaks_is_found() -> None:
    found = bisect_changes(traced(), relu_to_clamp, right)
    assert (found.index, str(found)) == (3, "<change 3 breaks the module>")
    assert set(diff(found.before, found.after).changed) == {"relu_2"}
    assert bisect_changes(traced(), relu_to_clamp, right, most=2) is None


def test_weights_are_not_shared_with_the_given_module() -> None:
    class Linear(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.linear(x)

    module = fx.symbolic_trace(Linear())
    weight = module.linear.weight.detach().clone()

    def zeroes(given: fx.GraphModule) -> None:
        given.linear.weight.data.zero_()

    found = bisect(module, [zeroes], lambda given: bool(given.linear.weight.abs().sum() > 0))
    assert found.index == 0 and torch.equal(module.linear.weight, weight)


def test_the_pass_that_raises_is_named() -> None:
    def refuses(module: fx.GraphModule) -> None:
        raise KeyError("my bug")

    found = bisect(traced(), [wrong.nothing, wrong.nothing, refuses, wrong.nothing], right)
    assert str(found) == "<passes[2], refuses, raises KeyError: 'my bug'>"
    assert found.index == 2 and found.after is None and right(found.before)
    assert bisect(traced(), [wrong.nothing, breaks, refuses], right).index == 1, "an earlier fault is found first"
    found = bisect(traced(), [wrong.nothing, lambda module: 5], right)
    assert found.index == 1 and isinstance(found.error, TypeError)


def test_the_change_that_raises_is_named() -> None:
    def refuses(module: fx.GraphModule, at_most: int) -> None:
        if at_most > 3:
            raise KeyError("my bug")

    assert str(bisect_changes(traced(), refuses, right)) == "<change 4 raises KeyError: 'my bug'>"


def test_a_check_that_raises_and_a_module_of_another_class_are_rejected() -> None:
    def cannot(module: fx.GraphModule) -> bool:
        raise ZeroDivisionError("of ok")

    with pytest.raises(ValueError, match="before anything is done to it: ZeroDivisionError: of ok; look at"):
        bisect(traced(), [wrong.nothing], cannot)
    program = torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),))
    for call in (
        lambda: bisect(program, [wrong.nothing], right),
        lambda: bisect_changes(program, relu_to_clamp, right),
    ):
        with pytest.raises(TypeError, match=r"got ExportedProgram: pass program\.module\(\)"):
            call()
