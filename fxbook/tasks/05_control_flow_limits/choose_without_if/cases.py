"""Batches whose mean chooses what is computed."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import watched


class Centred(nn.Module):
    """The function of the exercise, as a module."""

    def forward(self, x: Tensor) -> Tensor:
        if x.mean() > 0:
            return x - x.mean()
        return x


def _led_by_one(sign: int) -> tuple[Tensor]:
    """A batch whose mean has this sign because of one number in the middle; all others have the other sign."""
    batch = -0.1 - 0.1 * torch.rand(4, 5)
    batch[2, 2] = 8 + torch.rand(())
    return (sign * batch,)


def traced_and_watched(answer: Any) -> Any:
    """What tracing the answer returns; running it also reports what the answer itself does to its batch."""
    result = watched(fx.symbolic_trace(answer), nn.Module())
    traced = result.forward

    @functools.wraps(traced)
    def tells_of_both(x: Tensor) -> dict[str, Any]:
        own = x.clone()
        answer(own)
        return {**traced(x), "batch of the answer itself": own}

    result.forward = tells_of_both
    return result


USAGE = Usage(
    "build",
    cases=(
        Case("a batch with a positive mean", Centred, lambda: (torch.randn(8, 8) + 0.8,)),
        Case("a batch with a negative mean", Centred, lambda: (torch.randn(8, 8) - 0.8,)),
        Case("a batch with one large number", Centred, lambda: _led_by_one(1)),
        Case("a batch with one number far below zero", Centred, lambda: _led_by_one(-1)),
        Case("a batch of float64", Centred, lambda: (torch.rand(4, 4, dtype=torch.float64),)),
        Case("a tensor of three dimensions", Centred, lambda: ((torch.randn(6, 2, 3) + 1).transpose(0, 1),)),
        Case("a tensor of one dimension", Centred, lambda: (torch.rand(6) + 1,)),
    ),
    returns=("GraphModule",),
    call=traced_and_watched,
)
