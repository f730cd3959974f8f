"""Models with the GELU formula, from GPT-2 and written here, and with similar formulas that must stay."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.zoo import trace_with_last_users_first

from ..cases import WIDTH, feed_forward, rows

ROOT = math.sqrt(2.0 / math.pi)


def gelu(
    x: Tensor, root: float = ROOT, cubic: float = 0.044715, power: float = 3.0, half: float = 0.5, one: float = 1.0
) -> Tensor:
    """The formula of GPT-2, or one with other numbers."""
    return half * x * (one + torch.tanh(root * (x + cubic * torch.pow(x, power))))


class Gated(nn.Module):
    """Three formulas, two of them in a row; a separate tanh; a formula whose tanh has another user; and a formula with
    another polynomial, whose result is the input of an exact gelu.
    """

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        first = gelu(gelu(x))
        both = gelu(self.mix(first)) * torch.tanh(y) + first
        step = torch.tanh(ROOT * (y + 0.044715 * torch.pow(y, 3.0)))
        seen = 0.5 * y * (1.0 + step)
        return both, seen, step, nn.functional.gelu(gelu(both, cubic=0.2))


class Used(nn.Module):
    """Seven formulas, each with a different intermediate value that is used outside; and one without such a use."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        results = []
        for place in range(7):
            cubed = torch.pow(x, 3.0)
            cubic = 0.044715 * cubed
            inner = x + cubic
            scaled = ROOT * inner
            tanh = torch.tanh(scaled)
            half, total = 0.5 * x, 1.0 + tanh
            inside = (cubed, cubic, inner, scaled, tanh, half, total)
            results.append(half * total - inside[place])
        return *results, gelu(x)


class Other(nn.Module):
    """Formulas with another number (rounded in two of them), operation or input; tanh of a product, a quotient, a
    sum and a halved input; and the formula itself.
    """

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        numbers = gelu(x, root=0.9), gelu(x, cubic=0.2), gelu(x, power=2.0), gelu(x, half=0.25), gelu(x, one=2.0)
        rounded = gelu(x, root=0.7979), gelu(x, cubic=0.0447)
        operations = (
            0.5 * x * (1.0 + torch.tanh(ROOT * (x + 0.044715 * torch.add(x, 3.0)))),
            0.5 * x * (1.0 + torch.tanh(ROOT * (x + 0.044715 / torch.pow(x, 3.0)))),
            0.5 * x * (1.0 + torch.tanh(ROOT * (x - 0.044715 * torch.pow(x, 3.0)))),
            0.5 * x * (1.0 + torch.tanh(ROOT / (x + 0.044715 * torch.pow(x, 3.0)))),
            0.5 * x * (1.0 - torch.tanh(ROOT * (x + 0.044715 * torch.pow(x, 3.0)))),
            0.5 / x * (1.0 + torch.tanh(ROOT * (x + 0.044715 * torch.pow(x, 3.0)))),
        )
        gate = torch.tanh(x * (x + y)) + torch.tanh(2.0 / y.exp()) + torch.tanh(ROOT * (y + y)) + torch.tanh(0.5 * y)
        two_inputs = 0.5 * y * (1.0 + torch.tanh(ROOT * (x + 0.044715 * torch.pow(y, 3.0))))
        two_factors = 0.5 * y * (1.0 + torch.tanh(ROOT * (x + 0.044715 * torch.pow(x, 3.0))))
        two_cubes = 0.5 * x * (1.0 + torch.tanh(ROOT * (x + 0.044715 * torch.pow(y, 3.0))))
        return *numbers, *rounded, *operations, two_inputs, two_factors, two_cubes, gate, gelu(gate)


USAGE = Usage(
    "edit",
    cases=(
        Case("a block of GPT-2", feed_forward, rows()),
        Case(
            "formulas in a row, and two that must stay",
            Gated,
            rows(2),
            unseen=True,
            given=trace_with_last_users_first,
        ),
        Case("formulas with an intermediate value used elsewhere", Used, rows(), unseen=True),
        Case("formulas with other numbers, and a tanh of something else", Other, rows(2), unseen=True),
    ),
)
