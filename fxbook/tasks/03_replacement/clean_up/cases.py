"""Models with dead branches, and with calls that have an effect and no users."""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import rows


class Working(nn.Module):
    """Dead branches, and methods and a function that write in place."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(4, 4)
        self.auxiliary = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.hidden(x)
        self.auxiliary(hidden).softmax(dim=-1)
        hidden.mul_(2.0)
        hidden.sigmoid().neg()
        torch.tanh_(hidden)
        return hidden


@fx.wrap
def scale__rows_(value: Tensor) -> Tensor:
    """A user-defined function that writes in place; the two underscores in its name mean nothing."""
    return value.mul_(1.5)


@fx.wrap
def and_(value: Tensor) -> Tensor:
    """A user-defined function that writes in place, with the name of an operator that does not."""
    return value.mul_(0.5)


class Effects(nn.Module):
    """Nodes that have an effect by name, by keyword or through their module; dead nodes that only look like them; a
    dead layer whose name is a prefix of another layer's.
    """

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Sequential(nn.BatchNorm1d(4), nn.ReLU()), nn.Linear(4, 4))
        self.rows_norm = nn.InstanceNorm1d(3, track_running_stats=True)
        self.stateless_norm = nn.BatchNorm1d(4, track_running_stats=False)
        self.spare_norm = nn.LayerNorm(4)
        self.rectify = nn.ELU(inplace=True)
        self.plain = nn.ReLU()
        self.plain_too = nn.Linear(4, 4)
        # In eval mode, it has statistics but does not update them.
        self.body[0][0].eval()
        self.twice = nn.Sequential(nn.Linear(4, 4))
        self.shift_ = nn.Parameter(torch.randn(4))

    def forward(self, x: Tensor, unused: Tensor) -> tuple[Tensor, ...]:
        self.body(x)
        self.rows_norm(x)
        self.plain(self.spare_norm(self.stateless_norm(x)))
        hidden = self.plain_too(self.twice(x * 2.0))
        nn.functional.leaky_relu(hidden, 0.3, inplace=True)
        torch.mul(hidden, 1.5, out=hidden)
        torch.mul(hidden, 2.5, out=None)
        nn.functional.leaky_relu(hidden, 0.7)
        hidden.add_(1.0)
        hidden.add_(x)
        scale__rows_(hidden)
        and_(hidden)
        self.shift_  # noqa: B018
        (x > 0.0) & (x < 1.0) | (x > 2.0)
        hidden.__reversed__()
        other = hidden - 1.0
        self.rectify(other)
        self.twice(other)
        torch.rand_like(other)
        noisy = hidden + other + torch.rand_like(other)
        return noisy, self.body[0][0].running_mean + x, self.rows_norm.running_mean


USAGE = Usage(
    "edit",
    cases=(
        Case("dead branches, and calls that write in place", Working, rows()),
        Case("effects through keywords and in modules", Effects, rows(2), unseen=True),
    ),
)
