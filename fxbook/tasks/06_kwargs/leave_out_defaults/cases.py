"""Calls whose optional arguments have their default values, and calls with other values."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.zoo import crowded_trace

from ..cases import rows

functional = nn.functional


@fx.wrap
@torch.no_grad()
def scaled(x: Tensor, factor: float = 2.0, *, shift: float | None = 0.0) -> Tensor:
    """A user-defined function with a decorator; tracing keeps a call to it as one node."""
    return x * factor + (shift or 0.0)


@fx.wrap
def weighted(x: Tensor, factor: float = 1.0, mode: str = "plain", **options: Any) -> Tensor:
    """A function that accepts any keyword, with a different default for ``factor``."""
    return (x * factor if mode == "plain" else x) + sum(options.values())


# Python's own sum, a C function that has a signature.
fx.wrap("sum")


class Activations(nn.Module):
    """Functions of ``nn.functional`` whose optional arguments have their default values, or some other value."""

    def forward(self, x: Tensor) -> Tensor:
        hidden = functional.leaky_relu(functional.relu(x) - 1, 0.2)
        return functional.dropout(functional.softmax(hidden, -1), 0.25)


class Defaults(nn.Module):
    """Defaults in calls to functions of all kinds, a method and a layer; a default passed by position; a call without
    users; values that another function has as a default; and a `None` that is not the default.
    """

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(4, 4)
        self.widen = nn.ConvTranspose1d(3, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        hidden = functional.layer_norm(self.project(x), (4,), eps=0.1)
        hidden = functional.elu(hidden, alpha=0.5) + functional.hardtanh(hidden, -2.0, 1.0)
        hidden = scaled(hidden, factor=2, shift=1.0) - scaled(x=hidden, factor=3.0, shift=0.0)
        hidden = self.widen(hidden[None], output_size=None)[0] + scaled(hidden, 2.0, shift=None)
        hidden = torch.sum(hidden, dim=-1, keepdim=False) + hidden.norm(dim=-1, keepdim=False)
        pooled = functional.max_pool1d(hidden[None], 2, padding=1) * functional.dropout(
            hidden[0], p=0.5, training=False
        )
        # A call to a C function after one to a Python function whose parameter ``dtype`` has the default None.
        pooled = pooled + torch.sum(functional.softmax(hidden, dim=0, _stacklevel=4), dim=0, dtype=None)
        functional.silu(x)
        return weighted(pooled, factor=2.0, mode="plain", shift=0.0) + sum(hidden, start=0)


USAGE = Usage(
    "edit",
    cases=(
        Case("four activations", Activations, rows()),
        Case("functions of every kind", Defaults, rows(), unseen=True, given=crowded_trace),
    ),
)
