"""Graphs with norms from Llama, and with formulas that resemble a norm."""

from __future__ import annotations

import operator
from collections.abc import Callable

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of
from fxbook.cases.running import with_changes

from ..cases import WIDTH, graph_of, llama_layer

Step = Callable[[Tensor], Tensor]


def _small_numbers(count: int) -> list[float]:
    """Small random numbers, one of which occurs twice."""
    numbers = [one_of(1.0, 2.0, 3.0, 5.0, 7.0) * 10.0 ** -int(torch.randint(3, 7, ())) for _ in range(count - 1)]
    return [*numbers, numbers[0]]


class Normed(nn.Module):
    """A Llama layer without its attention: two norms with different ``eps``; and a value that nothing uses."""

    def __init__(self) -> None:
        super().__init__()
        layer = llama_layer()
        self.first, self.second, self.mlp = layer.input_layernorm, layer.post_attention_layernorm, layer.mlp
        self.first.variance_epsilon, self.second.variance_epsilon = 3e-6, float(one_of(1e-5, 2e-5, 5e-6))
        self.epsilons = [self.first.variance_epsilon, self.second.variance_epsilon]

    def forward(self, x: Tensor) -> Tensor:
        torch.exp(x)
        x = x + self.first(x)
        return x + self.mlp(self.second(x))


class Norm(nn.Module):
    """The formula of an RMSNorm; arguments other than ``eps`` and ``last`` make it another formula."""

    def __init__(
        self,
        eps: float,
        last: torch.dtype = torch.float32,
        first: torch.dtype = torch.float32,
        square: Step = lambda wide: wide.pow(2),
        mean: Step = lambda squares: squares.mean(-1, keepdim=True),
        plus: Callable[[Tensor, float], Tensor] = operator.add,
        root: Step = torch.rsqrt,
        times: Callable[[Tensor, Tensor], Tensor] = operator.mul,
        scaled: Callable[[Tensor, Tensor], Tensor] = operator.mul,
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(WIDTH))
        self.eps, self.last, self.first = eps, last, first
        self.square, self.mean, self.plus = square, mean, plus
        self.root, self.times, self.scaled = root, times, scaled

    def forward(self, x: Tensor, weight: Tensor | None = None) -> Tensor:
        wide = x.to(self.first)
        variance = self.mean(self.square(wide))
        normed = self.times(wide, self.root(self.plus(variance, self.eps)))
        return self.scaled(self.weight if weight is None else weight, normed.to(self.last))


class Alike(nn.Module):
    """Two norms with bfloat16 as the last dtype, one with an integer ``eps``; a formula without a weight and a second
    ``.to``; a formula of two inputs; and formulas that each differ from a norm in the first dtype, the exponent, the
    square, the dimension, the mean, ``keepdim``, the addition, the root, one of the products or the order of the last
    factors.
    """

    def __init__(self) -> None:
        super().__init__()
        self.epsilons = [float(one_of(1e-5, 2e-5)), 1]
        self.norms = nn.ModuleList(Norm(eps, last=torch.bfloat16) for eps in self.epsilons)
        others = (
            Norm(0.5, first=torch.float64),
            Norm(0.25, square=lambda wide: wide.pow(4)),
            Norm(0.75, square=lambda wide: wide.mul(2)),
            Norm(0.125, mean=lambda squares: squares.mean(1, keepdim=True)),
            Norm(0.375, mean=lambda squares: squares.sum(-1, keepdim=True)),
            Norm(0.625, plus=operator.mul),
            Norm(0.875, mean=lambda squares: squares.mean(-1, keepdim=False)),
            Norm(1.5, root=torch.sqrt),
            Norm(1.25, times=operator.truediv),
            Norm(1.75, scaled=operator.add),
        )
        self.others = nn.ModuleList(others)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        wide = x.to(torch.float32)
        plain = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 2.0)
        other = x.to(torch.float32)
        swapped = (other * torch.rsqrt(other.pow(2).mean(-1, keepdim=True) + 3.0)).to(torch.float32)
        weight = self.norms[0].weight
        rooted = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 2.25)
        mixed = weight * (x.exp().to(torch.float32) * rooted).to(torch.float32)
        return *(norm(x) for norm in (*self.norms, *self.others)), plain, swapped * weight, mixed


class Looking(nn.Module):
    """Norms and formulas that each differ from a norm in one step: another exponent, an in-place power, another
    dimension, a sum for the mean, a doubling for the square, or a product for the addition; and an ``rsqrt`` without a
    mean. The weight of one norm is computed, and the result of another has no users.
    """

    def __init__(self) -> None:
        super().__init__()
        self.epsilons = _small_numbers(5)
        self.norms = nn.ModuleList(Norm(eps) for eps in self.epsilons)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        fourth = x * torch.rsqrt(x.pow(4).mean(-1, keepdim=True) + 0.25)
        x = self.norms[1](self.norms[0](x))
        columns = x * torch.rsqrt(x.pow(2).mean(0, keepdim=True) + 0.5)
        total = x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + 0.125)
        double = x * torch.rsqrt(x.mul(2).mean(-1, keepdim=True) + 4.0)
        scaled = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) * 3.0)
        written = x * torch.rsqrt(x.clone().pow_(2).mean(-1, keepdim=True) + 0.75)
        others = fourth + total + double + scaled + written
        third, fourth = self.norms[2](columns), self.norms[3](x, torch.tanh(x))
        self.norms[4](x)
        return third + others, fourth, torch.rsqrt(x.abs() + 1e-3)


class Nothing(nn.Module):
    """An ``rsqrt``, but no norm."""

    def __init__(self) -> None:
        super().__init__()
        self.epsilons: list[float] = []

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2) + 1e-6)


USAGE = Usage(
    "compute",
    cases=(
        Case("two norms from Llama", Normed, tuple),
        Case("norms and formulas that resemble one", Looking, tuple, unseen=True),
        Case("norms with another dtype, and similar formulas", Alike, tuple, unseen=True),
        Case("no norm at all", Nothing, tuple, unseen=True),
    ),
    given=graph_of,
    call=with_changes,
)
