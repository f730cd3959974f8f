"""The recipe of chapter 13 keeps inputs, constants and weights apart, and the signature of a graph."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, Literal, NamedTuple

import pytest
import torch
from torch import Tensor, fx, nn
from torch.utils import _pytree as pytree

from fxbook.surgery.lowering import lower

pytestmark = pytest.mark.room(name="passes")

aten = torch.ops.aten


@fx.wrap
def plus_two(x: Tensor) -> Tensor:
    return x + torch.tensor([2.0])


# ---- names -----------------------------------------------------------------------------------------------------------


def test_a_constant_of_the_second_retrace_does_not_take_the_name_of_the_first() -> None:
    x = torch.ones(2)
    once = lower(fx.symbolic_trace(lambda x: plus_two(torch.relu(x))), x)
    table = {aten.relu.default: lambda x: x.clamp(min=0) * torch.tensor([3.0])}
    twice = lower(once, x, table=table)
    assert torch.equal(twice(x), torch.full((2,), 5.0))
    assert len(list(twice.buffers())) == 2


def test_a_lowered_module_with_a_dot_in_the_name_of_a_weight_can_be_pickled() -> None:
    model, x = nn.Sequential(nn.Linear(2, 2)), torch.ones(1, 2)
    loaded = pickle.loads(pickle.dumps(lower(fx.symbolic_trace(model), x)))
    assert list(loaded.state_dict()) == ["0.weight", "0.bias"]
    assert torch.equal(loaded(x), model(x))


# ---- inputs and results ----------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Found:
    """A class of results that pytree does not know."""

    scores: Tensor


def test_a_class_that_pytree_does_not_know_is_not_made_a_constant() -> None:
    class Finding(nn.Module):
        def forward(self, x: Tensor) -> Found:
            return Found(x + 1)

    traced = fx.symbolic_trace(Finding())
    with pytest.raises(ValueError, match="register the result's class"):
        lower(traced, torch.ones(2))
    torch.export.register_dataclass(Found)
    assert torch.equal(lower(traced, torch.ones(2))(torch.zeros(2)).scores, torch.ones(2))


@pytest.mark.parametrize("mode", ["real", "symbolic"])
def test_one_tensor_for_two_inputs_is_rejected(mode: Literal["real", "symbolic"]) -> None:
    x = torch.rand(2, 2)
    traced = fx.symbolic_trace(lambda a, b: a - b)
    with pytest.raises(ValueError, match="clone the input"):
        lower(traced, x, x, mode=mode)
    lowered = lower(traced, x, x.clone(), mode=mode)
    torch.testing.assert_close(lowered(x, x + 1), torch.full((2, 2), -1.0))


@pytest.mark.parametrize("mode", ["real", "symbolic"])
@pytest.mark.parametrize("held", ["weight", "running_mean"])
def test_a_weight_for_an_input_is_rejected(held: str, mode: Literal["real", "symbolic"]) -> None:
    norm: Any = nn.BatchNorm1d(4).eval()
    traced = fx.symbolic_trace(nn.Sequential(norm))
    value = getattr(norm, held)
    with pytest.raises(ValueError, match="clone the input"):
        lower(traced, value, mode=mode)


class Pair(NamedTuple):
    """Two inputs in a named tuple."""

    first: Tensor
    second: Tensor


def row(start: float) -> Tensor:
    return torch.arange(start, start + 3)


SIGNATURES: dict[str, tuple[Any, Any]] = {
    "a tuple and a dict": ((row(1),), {"x": row(2)}),
    "a longer tuple": ((row(1), row(2)), {"x": row(3)}),
    "a longer dict": ((row(1),), {"x": row(2), "y": row(3)}),
    "an empty dict": ((row(1), row(2)), {}),
    "an empty tuple": ((), {"x": row(1)}),
    "a dict and a tuple": ({"x": row(1)}, (row(2),)),
    "nested": (((row(1), {"x": row(2)}),), {"y": [row(3)]}),
    "a named tuple": (Pair(row(1), row(2)), {"x": row(3)}),
    "nothing": (row(1), None),
    "a number": (row(1), 2.0),
}


class Weighing(nn.Module):
    """Weighs each leaf differently, so that none can be mistaken for another."""

    def forward(self, first: Any, second: Any) -> dict[str, Any]:
        total = torch.zeros(3)
        for value in pytree.tree_leaves((first, second)):
            total = total * 10 + (1 if value is None else value)
        return {"total": total, "parts": (total.sum(), total + 1)}


@pytest.mark.parametrize("mode", ["real", "symbolic"])
@pytest.mark.parametrize("signature", SIGNATURES)
def test_a_lowered_module_is_called_like_the_original(signature: str, mode: Literal["real", "symbolic"]) -> None:
    first, second = SIGNATURES[signature]
    by_position = torch.export.export(Weighing(), (first, second)).module()
    lowered = lower(by_position, first, second, mode=mode)
    by_name = torch.export.export(Weighing(), (), {"second": second, "first": first}).module()
    of_names = lower(by_name, kwargs={"first": first, "second": second}, mode=mode)
    expected = Weighing()(first, second)
    torch.testing.assert_close(lowered(first, second), expected)
    torch.testing.assert_close(copy.deepcopy(lowered)(first, second), expected)
    torch.testing.assert_close(lower(lowered, first, second)(first, second), expected)
    torch.testing.assert_close(of_names(second=second, first=first), expected)


def test_the_keys_of_a_dict_can_be_in_any_order() -> None:
    class Difference(nn.Module):
        def forward(self, given: dict[str, Tensor]) -> Tensor:
            return given["a"] - given["b"]

    exported = torch.export.export(Difference(), ({"a": row(1), "b": row(5)},)).module()
    lowered = lower(exported, {"b": row(5), "a": row(1)})
    for given in ({"a": row(1), "b": row(5)}, {"b": row(5), "a": row(1)}):
        assert torch.equal(lowered(given), torch.full((3,), -4.0))


def test_inputs_that_the_module_does_not_take_are_rejected() -> None:
    with pytest.raises(TypeError, match="does not take these inputs: forward"):
        lower(fx.symbolic_trace(lambda a, b: a - b), torch.ones(3))


@fx.wrap
def times_a_leaf(x: Tensor) -> Tensor:
    return x * torch.ones(3, requires_grad=True)


def attached(x: Tensor) -> Tensor:
    apart = x.detach().requires_grad_()
    return (apart * apart).sum()


@pytest.mark.parametrize("program", [attached, lambda x: times_a_leaf(x)])
def test_a_graph_that_requires_a_gradient_is_rejected(program: Any) -> None:
    with pytest.raises(ValueError, match="no operator records requires_grad"):
        lower(fx.symbolic_trace(program), torch.ones(3))


def test_requires_grad_that_changes_nothing_is_accepted() -> None:
    lowered = lower(fx.symbolic_trace(lambda x: x.requires_grad_() * 2), torch.ones(3).requires_grad_())
    assert torch.equal(lowered(torch.ones(3)), torch.full((3,), 2.0))
