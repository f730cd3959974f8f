"""Attention as single operations is found however it is written; similar code is left alone with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.passes.fake_tensor_prop import FakeTensorProp

from fxbook.exporting import unguarded
from fxbook.surgery.attention import (
    key_of,
    mask_of,
    passed_by,
    put_in_place,
    scale_of,
    written_attention,
)

sdpa = nn.functional.scaled_dot_product_attention
Program = Callable[..., Any]


def examples() -> tuple[Tensor, ...]:
    """Query, key and value of four heads, with the memory layout that projections give them, and a mask."""
    torch.manual_seed(0)
    return (*torch.randn(3, 2, 6, 4, 8).transpose(2, 3), torch.randn(6, 6))


def traced(program: Program) -> fx.GraphModule:
    module = fx.symbolic_trace(program)
    FakeTensorProp(module, FakeTensorMode(allow_non_fake_inputs=True)).propagate(*examples())
    return module


class Calling(nn.Module):
    """A module that calls a function."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self._program = program

    def forward(self, q: Tensor, k: Tensor, v: Tensor, m: Tensor) -> Any:
        return self._program(q, k, v, m)


def exported(program: Program) -> fx.GraphModule:
    return unguarded(torch.export.export(Calling(program), examples()))


SPELLED: dict[str, Program] = {
    "operators": lambda q, k, v, m: ((q @ k.mT) * 0.5 + m).softmax(-1) @ v,
    "functions": lambda q, k, v, m: torch.matmul(
        torch.softmax(torch.add(m, torch.div(torch.matmul(q, k.transpose(-1, -2)), 2)), dim=-1), v
    ),
    "by keyword": lambda q, k, v, m: torch.matmul(
        other=v, input=nn.functional.softmax(input=torch.matmul(input=q, other=k.transpose(3, 2)) + m, dim=3)
    ),
    "in place": lambda q, k, v, m: torch.matmul(q, k.mT).mul_(0.25).add_(m).softmax(-1) @ v,
    "a cast": lambda q, k, v, m: nn.functional.softmax(q @ k.mT + m, -1, dtype=torch.float32).to(q.dtype) @ v,
    "no mask, a scale first": lambda q, k, v, m: (
        nn.functional.dropout((0.3 * (q @ k.mT)).softmax(-1), 0.5, training=False) @ v
    ),
    "masked with minus infinity": lambda q, k, v, m: (q @ k.mT).masked_fill(m > 1, -float("inf")).softmax(-1) @ v,
    "special": lambda q, k, v, m: torch.special.softmax(q @ k.mT + m, -1) @ v,
    "added to a sum in place": lambda q, k, v, m: q.neg().add_((q @ k.mT + m).softmax(-1) @ v),
    "a view of the result": lambda q, k, v, m: ((q @ k.mT).softmax(-1) @ v).view(-1),
}


def replaced(module: fx.GraphModule) -> fx.GraphModule:
    """Replace every attention with one call, without the conditions that a pass checks."""
    for old in written_attention(module)[0]:
        parts = old.query, key_of(module, old), old.value
        options = {"attn_mask": mask_of(module, old), "scale": scale_of(old)}
        with module.graph.inserting_before(old.output):
            put_in_place(module, old, module.graph.call_function(sdpa, parts, options))
    module.graph.lint()
    module.recompile()
    return module


@pytest.mark.parametrize("spelling", SPELLED)
def test_each_spelling_is_found_and_replaced(spelling: str) -> None:
    program = SPELLED[spelling]
    for module in (traced(program), exported(program)):
        found, left = written_attention(module)
        assert len(found) == 1 and left == {}
        assert passed_by(module, found[0]) is None
        after = replaced(module)
        assert not [node for node in after.graph.nodes if "softmax" in str(node.target)]
        torch.testing.assert_close(after(*examples()), program(*examples()))


NONE: dict[str, tuple[Program, str]] = {
    "weights that are returned": (lambda q, k, v, m: ((w := (q @ k.mT).softmax(-1)) @ v, w), "has 2 users"),
    "a mask before the scale": (
        lambda q, k, v, m: ((q @ k.mT + m) * 2).softmax(-1) @ v,
        "the mask comes before the scaling",
    ),
    "two masks": (lambda q, k, v, m: (q @ k.mT + m + m).softmax(-1) @ v, "masks a second time"),
    "weights on the right": (lambda q, k, v, m: v.mT @ (q @ k.mT).softmax(-1), "reads the weights"),
    "a soft cap": (lambda q, k, v, m: ((q @ k.mT).tanh() * 5 + m).softmax(-1) @ v, "the scores come from tanh"),
    "a write into the result": (lambda q, k, v, m: ((q @ k.mT).softmax(-1) @ v).mul_(2), "writes into the result"),
    "a write into a view of it": (
        lambda q, k, v, m: ((q @ k.mT).softmax(-1) @ v).transpose(1, 2).mul_(2),
        "writes into the result",
    ),
    "a write into a list with it": (
        lambda q, k, v, m: ((a := (q @ k.mT).softmax(-1) @ v), torch._foreach_mul_([a], 2), a)[2],
        "writes into the result",
    ),
    "a later write into the mask": (
        lambda q, k, v, m: ((b := m * 2), (q @ k.mT + b).softmax(-1) @ v, b.add_(1))[1],
        "writes into the mask",
    ),
    "a later write into the query": (
        lambda q, k, v, m: ((b := q * 2), (b @ k.mT).softmax(-1) @ v, b.add_(1))[1],
        "writes into the query",
    ),
    "a later write into a view of the key": (
        lambda q, k, v, m: ((b := k * 2), (q @ b.mT).softmax(-1) @ v, b[0].add_(1))[1],
        "writes into the key",
    ),
    "a later write into the value": (
        lambda q, k, v, m: ((b := v * 2), (q @ k.mT).softmax(-1) @ b, b.add_(1))[1],
        "writes into the value",
    ),
    "a write into the base of the mask": (
        lambda q, k, v, m: ((b := m * 2), b.add_(1), (q @ k.mT + b.view(6, 6)).softmax(-1) @ v, b.add_(1))[2],
        "writes into the mask",
    ),
}


@pytest.mark.parametrize("kind", NONE)
def test_other_code_is_left_alone(kind: str) -> None:
    program, reason = NONE[kind]
    found, left = written_attention(traced(program))
    assert found == []
    [told] = left.values()
    assert reason in told


class Layers(nn.Module):
    """Attention whose softmax and dropout are layers, which may have hooks."""

    def __init__(self) -> None:
        super().__init__()
        self.softmax, self.drop = nn.Softmax(-1), nn.Dropout(0.5)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, m: Tensor) -> Tensor:
        return self.drop(self.softmax(q @ k.mT + m)) @ v


@pytest.mark.parametrize("name", ["softmax", "drop"])
def test_layer_with_hooks_is_left_alone(name: str) -> None:
    program = Layers().eval()
    assert len(written_attention(traced(program))[0]) == 1
    program.get_submodule(name).register_forward_hook(lambda layer, inputs, weights: weights.tril())
    found, left = written_attention(traced(program))
    assert found == [] and list(left.values()) == [f"{name} has hooks"]


def test_two_attentions_may_add_the_same_mask_in_place() -> None:
    def program(q: Tensor, k: Tensor, v: Tensor, m: Tensor) -> Tensor:
        first = torch.matmul(q, k.mT).add_(m).softmax(-1) @ v
        return torch.matmul(first, k.mT).add_(m).softmax(-1) @ v

    module = traced(program)
    assert len(written_attention(module)[0]) == 2
    torch.testing.assert_close(replaced(module)(*examples()), program(*examples()))


def test_write_in_between_is_reported() -> None:
    def program(q: Tensor, k: Tensor, v: Tensor, m: Tensor) -> Tensor:
        scores = q @ k.mT
        q.zero_()
        return scores.softmax(-1) @ v

    module = traced(program)
    [old] = written_attention(module)[0]
    assert passed_by(module, old).target == "zero_"


def test_random_numbers_in_between_are_reported() -> None:
    def program(q: Tensor, k: Tensor, v: Tensor, m: Tensor) -> Tensor:
        weights = nn.functional.dropout((q @ k.mT).softmax(-1), 0.5)
        return weights @ nn.functional.dropout(v, 0.5)

    module = traced(program)
    [old] = written_attention(module)[0]
    assert passed_by(module, old).args[0] is module.graph.find_nodes(op="placeholder", target="v")[0]
