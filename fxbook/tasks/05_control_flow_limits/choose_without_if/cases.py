"""Batches whose mean decides what is computed."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.running import reporting

from ..cases import watched


class Centred(nn.Module):
    """The function of the exercise, as a module."""

    def forward(self, x: Tensor) -> Tensor:
        if x.mean() > 0:
            return x - x.mean()
        return x


def _led_by_one(sign: int) -> tuple[Tensor]:
    """A batch whose mean has this sign because of one large number; all other numbers have the opposite sign."""
    batch = -0.1 - 0.1 * torch.rand(4, 5)
    batch[2, 2] = 8 + torch.rand(())
    return (sign * batch,)


def traced_and_watched(answer: Any) -> Any:
    """The traced answer, changed so that a run also reports what the answer itself does to its batch."""

    def report(forward: Any, x: Tensor) -> dict[str, Any]:
        own = x.clone()
        answer(own)
        return {**forward(x), "batch of the answer itself": own}

    return reporting(watched(fx.symbolic_trace(answer), nn.Module()), report)


USAGE = Usage(
    "build",
    cases=(
        Case("a batch with a positive mean", Centred, lambda: (torch.randn(8, 8) + 0.8,)),
        Case("a batch with a negative mean", Centred, lambda: (torch.randn(8, 8) - 0.8,)),
        Case("a batch with one large number", Centred, lambda: _led_by_one(1)),
        Case("a batch with one number far below zero", Centred, lambda: _led_by_one(-1)),
        Case("a batch of small numbers in float64", Centred, lambda: (torch.rand(4, 4, dtype=torch.float64) / 1e5,)),
        Case("a tensor of three dimensions", Centred, lambda: ((torch.randn(6, 2, 3) + 1).transpose(0, 1),)),
        Case("a tensor of one dimension", Centred, lambda: (torch.rand(6, dtype=torch.float64) + 1e7,)),
    ),
    returns=("GraphModule",),
    call=traced_and_watched,
)
