"""Models that call functions, several in a row, together with methods and layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.zoo import crowded_trace

from ..cases import FeedForward, rows


class Rounding(nn.Module):
    """Function calls in a row; one of the results is used twice.

    One call rounds to one decimal and one works in place, both on the result of a method; a method changes the result
    of another method in place, and no node uses what it returns.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        scaled = torch.round(self.scale(x).mul(5.0), decimals=1)
        narrowed = torch.mul(torch.mul(scaled, 3.0), 0.5)
        gate = x.sigmoid()
        gate.add_(1.0)
        return torch.exp(narrowed) * torch.square(narrowed), gate * 3.0, torch.sigmoid_(x.mul(1.0)) * 3.0


class UsedAlike(nn.Module):
    """Function results used by keyword, twice, in a dict, and by both ``torch.round`` and another function.

    One function slices the input, and one is from ``torch.nn.functional``; a parameter is fetched, not called.
    """

    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.rand(4) + 2.2)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        gated = nn.functional.leaky_relu(x[:2] * self.gain, 0.3)
        scaled = torch.mul(input=gated, other=2.75)
        rounded = torch.round(scaled)
        return {"x": x, "square": gated * gated, "rounded": rounded, "beside": torch.mul(scaled, 8.0)}


def far_rows() -> tuple[Tensor, ...]:
    """One input of three rows, from far below zero to above zero."""
    return (torch.linspace(-20, 3, 12).reshape(3, 4) + torch.rand(3, 4),)


USAGE = Usage(
    "edit",
    cases=(
        Case("the block of the chapter", FeedForward, rows()),
        Case("functions in a row, one of which is `torch.round`", Rounding, rows(), unseen=True),
        Case("results used by keyword, twice, and in a dict", UsedAlike, far_rows, unseen=True, given=crowded_trace),
    ),
)
