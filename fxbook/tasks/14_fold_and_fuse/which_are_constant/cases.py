"""Functional exported graphs in which some of the weights, chosen at random, or all weights are trained."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage

from ..cases import exported, real, some


class Weighed(nn.Module):
    """Expressions of weights, of a table, and of both; two calls that draw random numbers, one of which another call
    uses; calls that return pairs; a call that uses the input only by keyword; and a weight with two names. The weights
    belong to a submodule.
    """

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Module()
        for name in ("first", "second", "third", "fourth"):
            self.inner.register_parameter(name, nn.Parameter(torch.rand(4) + 1))
        self.inner.tied = self.inner.first
        self.register_buffer("table", torch.arange(8.0).view(2, 4))
        self.register_buffer("order", torch.tensor([3, 1, 0, 2]))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        inner, (low, high) = self.inner, self.table.sqrt().max(0)
        scaled = x * (inner.first.exp() + inner.second.log()) + low * inner.third.tanh()
        noise = torch.rand(4).sqrt() + inner.fourth.sin()
        picked = (self.table.cos() * inner.fourth)[:, self.order]
        found = torch.searchsorted(self.table, self.table.neg(), sorter=(x + self.table).argsort()).neg()
        places, counts = torch.arange(4) + high, torch.poisson(self.table)
        return scaled + noise.cos(), picked.sum(0) * x, places.double() + self.table.double().sum(), found, counts


def llama() -> tuple[nn.Module, Tensor]:
    return real("llama")


def gpt2() -> tuple[nn.Module, Tensor]:
    return real("gpt2")


def weighed() -> tuple[nn.Module, Tensor]:
    return Weighed(), torch.randn(4)


def trained(
    build: Callable[[], tuple[nn.Module, Tensor]], choose: Callable[[list[nn.Parameter]], Iterable[nn.Parameter]]
) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make the argument that the answer gets: a graph in which only the chosen parameters are trained, plus one call
    without users.
    """

    def given(model: nn.Module) -> tuple[Any, ...]:
        module = exported(build, functional=True).requires_grad_(False)
        for weight in choose(list(module.parameters())):
            weight.requires_grad_(True)
        with module.graph.inserting_before(next(iter(reversed(module.graph.nodes)))):
            module.graph.call_function(torch.ops.aten.arange.default, (3,))
        module.recompile()
        return (module,)

    return given


_nothing = functools.partial(nn.Module)

USAGE = Usage(
    "compute",
    cases=(
        Case("a Llama", _nothing, tuple, given=trained(llama, some)),
        Case("expressions of weights", _nothing, tuple, given=trained(weighed, some)),
        Case("all weights are trained", _nothing, tuple, given=trained(weighed, list)),
        Case("a GPT-2", _nothing, tuple, unseen=True, given=trained(gpt2, some)),
        Case("other weights are trained", _nothing, tuple, unseen=True, given=trained(weighed, some)),
    ),
)
