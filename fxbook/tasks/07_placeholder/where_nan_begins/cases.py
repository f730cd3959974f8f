"""Models, and inputs for which a run produces nan or does not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import Weighting, mask, mask_of, table


@fx.wrap
def sign_and_log(values: Tensor) -> tuple[Tensor, Tensor]:
    """Two results; the second is nan where a value is negative."""
    return values.sign(), values.log()


@fx.wrap
def log_and_sign(values: Tensor) -> list[Tensor]:
    """Like :func:`sign_and_log`, but returns a list in reverse order."""
    return [values.log(), values.sign()]


class SignAndLog(NamedTuple):
    """A named tuple of two results."""

    sign: Tensor
    log: Tensor


@fx.wrap
def named_sign_and_log(values: Tensor) -> SignAndLog:
    """Like :func:`sign_and_log`, but returns a named tuple."""
    return SignAndLog(values.sign(), values.log())


class Logs(nn.Module):
    """One node returns a tuple that contains nan, and later nodes use it; others return integer tensors or numbers."""

    def forward(self, rows: Tensor, power: int = 2, names: Any = None) -> Tensor:
        count = (rows > 0).sum()
        sign, logs = sign_and_log(rows)[0], sign_and_log(rows)[1]
        return (sign * logs).pow(power) / count


class LogList(nn.Module):
    """One node returns a list that contains nan."""

    def forward(self, rows: Tensor) -> Tensor:
        both = log_and_sign(rows)
        return both[0] * both[1]


class NamedLogs(nn.Module):
    """One node returns a named tuple that contains nan."""

    def forward(self, rows: Tensor) -> Tensor:
        both = named_sign_and_log(rows)
        return both[0] * both[1]


class InPlace(nn.Module):
    """An in-place step makes nan, so that afterwards the value of the node before it contains nan, too."""

    def forward(self, rows: Tensor) -> Tensor:
        return (rows + 1).log_() * 2


class NanWeight(nn.Module):
    """A complex parameter contains nan, so the node that fetches it is the first whose value does."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.tensor([1.0, torch.nan, 1.0, 1.0], dtype=torch.complex128))

    def forward(self, rows: Tensor) -> Tensor:
        return (rows + 1) * self.factor


class Blocks(nn.Module):
    """A layer makes nan; the layers and a parameter are in a submodule, and some arguments are passed by keyword."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Module()
        self.block.factor = nn.Parameter(torch.ones(4))
        self.block.mix = nn.Bilinear(4, 4, 4)
        self.block.weigh = nn.Softmax(dim=1)

    def forward(self, rows: Tensor) -> Tensor:
        mixed = self.block.mix(rows * self.block.factor, rows)
        return self.block.weigh(input=torch.clamp(mixed.softmax(dim=1), max=-torch.inf)) + 1


class Opposite(nn.Module):
    """A value has infinities of both signs, whose sum is nan; a node without users is nan; one value is a tuple, and
    another is an empty tensor.
    """

    def forward(self, rows: Tensor) -> Tensor:
        infinite = rows / 0
        infinite.sub(infinite)
        return torch.cat([rows[1:], infinite.sigmoid().reshape(rows.size())])


def run_on(*values: Any) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Pass the traced model, and the values to run it on."""
    return lambda model: (fx.symbolic_trace(model), *values)


_SIGNED = torch.tensor([[1.0, -1.0, 2.0, 3.0]])
_HOLED = torch.tensor([[1.0, torch.nan, 2.0, 3.0]] * 5)

USAGE = Usage(
    "compute",
    cases=(
        Case("a mask that leaves out every row", Weighting, tuple),
        Case("a mask that leaves out one row", Weighting, tuple, given=run_on(table(), mask())),
        Case("nan in an input", Weighting, tuple, True, run_on(_HOLED, mask())),
        Case("nan in one of a node's two results", Logs, tuple, True, run_on(_SIGNED)),
        Case("no nan, and a node with two results", Logs, tuple, True, run_on(_SIGNED.abs(), 3)),
        Case("nan in a list", LogList, tuple, True, run_on(_SIGNED)),
        Case("nan from a layer", Blocks, tuple, True, run_on(_SIGNED)),
        Case("nan in a named tuple", NamedLogs, tuple, True, run_on(_SIGNED)),
        Case("a number that is nan", Weighting, tuple, True, run_on(table(), mask(), math.nan)),
        Case("a step that works in place", InPlace, tuple, True, run_on(_SIGNED * 2)),
        Case("nan in a parameter", NanWeight, tuple, True, run_on(_SIGNED)),
        Case("infinities of both signs, and nan that nothing uses", Opposite, tuple, True, run_on(_SIGNED)),
    ),
    given=run_on(table(), mask_of(*[False] * 5)),
)
