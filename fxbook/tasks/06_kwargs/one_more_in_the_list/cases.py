"""Models with concatenations in every spelling."""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.zoo import crowded_trace

from ..cases import rows


@fx.wrap
def cat(tensors: list[Tensor]) -> Tensor:
    """A function that is not ``torch.cat``; tracing keeps a call to it as one node."""
    return tensors[0] * len(tensors)


class Joining(nn.Module):
    """A concatenation of a list, one of a tuple, and a stack, which is not a concatenation."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        half = x * 0.5
        return torch.cat([half, half]), torch.cat((half, x), 1), torch.stack([half, half])


class JoiningMore(nn.Module):
    """An unused first input; concatenations by name, of one tensor, or without users; aliases; others named ``cat``."""

    def __init__(self) -> None:
        super().__init__()
        self.cat = nn.Linear(4, 4)

    def forward(self, image: Tensor, x: Tensor) -> tuple[Tensor, ...]:
        first = torch.cat(tensors=[x, self.cat(x)], dim=1)
        torch.cat([x])
        joined = torch.cat(dim=1, tensors=(first, x))
        others = torch.concatenate([torch.concat([x, x]), x])
        return joined, torch.cat([torch.cat([x])]), torch.cat([x, x], dim=1), cat([x]), others


USAGE = Usage(
    "edit",
    cases=(
        Case("a list, a tuple and a stack", Joining, rows()),
        Case("a model with two inputs", JoiningMore, rows(2), unseen=True, given=crowded_trace),
    ),
)
