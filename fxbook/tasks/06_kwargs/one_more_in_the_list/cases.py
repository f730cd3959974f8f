"""Concatenations, each with what the exercise asks of it in eager terms."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage

from ..cases import rows


class Joining(nn.Module):
    """Concatenations of a list, of a tuple and by name; a stack, which is none."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        half = x * 0.5
        return torch.cat([half, half]), torch.cat((half, x), 1), torch.stack([half, half])


class JoiningMore(nn.Module):
    """Two inputs under other names, the first read by none; the tensors by name, one alone; a layer called `cat`."""

    def __init__(self) -> None:
        super().__init__()
        self.cat = nn.Linear(4, 4)

    def forward(self, image: Tensor, extra: Tensor) -> tuple[Tensor, ...]:
        first = torch.cat(tensors=[extra, self.cat(extra)], dim=1)
        return (
            torch.cat(dim=1, tensors=(first, extra)),
            torch.cat([torch.cat([extra])]),
            torch.cat([extra, extra], dim=1),
        )


USAGE = Usage(
    "edit",
    cases=(
        Case("a list, a tuple and a stack", Joining, rows()),
        Case("a model with two inputs", JoiningMore, rows(2), unseen=True),
    ),
)
