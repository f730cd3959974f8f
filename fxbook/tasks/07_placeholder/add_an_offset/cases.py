"""Models that return a tensor; the offset is passed in some cases and left out in others."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.zoo import crowded_trace

from ..cases import Weighting, column, mask, rows, with_late_input


class Identity(nn.Module):
    """Returns its only input unchanged."""

    def forward(self, rows: Tensor) -> Tensor:
        return rows


class Offset(nn.Module):
    """A submodule has the name that the new input must get; no node uses the result of an in-place call."""

    def __init__(self) -> None:
        super().__init__()
        self.offset = nn.Linear(4, 4)

    def forward(self, rows: Tensor, other: Tensor) -> Tensor:
        shifted = self.offset(rows)
        shifted.mul_(2.0)
        return shifted + other


class Asserting(nn.Module):
    """Its last step, an assertion, uses the result but is not the result."""

    def forward(self, rows: Tensor, other: Tensor) -> Tensor:
        difference = rows - other
        torch._assert(difference.isfinite().all(), "rows are not finite")
        return difference


class LateUnread(nn.Module):
    """The last input has no users, so its node may come after the steps."""

    def forward(self, rows: Tensor, other: Tensor, unread: Any = None) -> Tensor:
        return rows * 2 - other


USAGE = Usage(
    "edit",
    cases=(
        Case("the model of the chapter, without an offset", Weighting, rows(mask)),
        Case("the model of the chapter, with an offset", Weighting, rows(mask, float, lambda: None, lambda: 2.5)),
        Case("a model that returns its input", Identity, rows(lambda: -1.0), unseen=True),
        Case("a model with a layer called `offset`", Offset, rows(column, lambda: 2.0), unseen=True),
        Case(
            "a model that asserts something about its result",
            Asserting,
            rows(column, lambda: torch.inf),
            unseen=True,
            given=crowded_trace,
        ),
        Case(
            "a model whose last input comes after a step",
            LateUnread,
            rows(column, lambda: None, lambda: 3.0),
            unseen=True,
            given=with_late_input(-1),
        ),
    ),
)
