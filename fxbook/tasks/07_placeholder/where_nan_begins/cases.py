"""Models, and values with which nan appears on the way, or does not."""

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
    """Two results at once; the second is nan where a value is negative."""
    return values.sign(), values.log()


@fx.wrap
def log_and_sign(values: Tensor) -> list[Tensor]:
    """Like :func:`sign_and_log`, as a list and in the other order."""
    return [values.log(), values.sign()]


class SignAndLog(NamedTuple):
    """Two results with names, which are also a tuple."""

    sign: Tensor
    log: Tensor


@fx.wrap
def named_sign_and_log(values: Tensor) -> SignAndLog:
    """Like :func:`sign_and_log`, with names."""
    return SignAndLog(values.sign(), values.log())


class Logs(nn.Module):
    """A node that gives a tuple with nan inside, used by others; integers and numbers on the way."""

    def forward(self, rows: Tensor, power: int = 2, names: Any = None) -> Tensor:
        count = (rows > 0).sum()
        sign, logs = sign_and_log(rows)[0], sign_and_log(rows)[1]
        return (sign * logs).pow(power) / count


class LogList(nn.Module):
    """A node that gives a list with nan inside."""

    def forward(self, rows: Tensor) -> Tensor:
        both = log_and_sign(rows)
        return both[0] * both[1]


class NamedLogs(nn.Module):
    """A node that gives a named tuple with nan inside."""

    def forward(self, rows: Tensor) -> Tensor:
        both = named_sign_and_log(rows)
        return both[0] * both[1]


class InPlace(nn.Module):
    """A step works in place: afterwards, the value of the node before it is also nan."""

    def forward(self, rows: Tensor) -> Tensor:
        return (rows + 1).log_() * 2


class NanWeight(nn.Module):
    """A parameter of 64 bits holds nan, and the node that fetches it is the first that does."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.tensor([1.0, torch.nan, 1.0, 1.0], dtype=torch.float64))

    def forward(self, rows: Tensor) -> Tensor:
        return (rows + 1) * self.factor


class Blocks(nn.Module):
    """A layer makes the nan. Layers and a parameter are in another module, and arguments are passed by name."""

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
    """Infinities of both signs, whose sum is nan; a node without users is nan. A tuple of numbers on the way."""

    def forward(self, rows: Tensor) -> Tensor:
        infinite = rows / 0
        infinite.sub(infinite)
        return infinite.sigmoid().reshape(rows.size())


def run_on(*values: Any) -> Callable[[nn.Module], tuple[Any, ...]]:
    """The traced model, and the values that it is run on."""
    return lambda model: (fx.symbolic_trace(model), *values)


_SIGNED = torch.tensor([[1.0, -1.0, 2.0, 3.0]])
_HOLED = torch.tensor([[1.0, torch.nan, 2.0, 3.0]] * 5)

USAGE = Usage(
    "compute",
    cases=(
        Case("a mask that keeps no row", Weighting, tuple),
        Case("a mask that keeps some rows", Weighting, tuple, given=run_on(table(), mask())),
        Case("nan in an input", Weighting, tuple, True, run_on(_HOLED, mask())),
        Case("nan in one of two results of a node", Logs, tuple, True, run_on(_SIGNED)),
        Case("no nan, and a node with two results", Logs, tuple, True, run_on(_SIGNED.abs(), 3)),
        Case("nan in a list", LogList, tuple, True, run_on(_SIGNED)),
        Case("nan that a layer makes", Blocks, tuple, True, run_on(_SIGNED)),
        Case("nan in a named tuple", NamedLogs, tuple, True, run_on(_SIGNED)),
        Case("a number that is nan", Weighting, tuple, True, run_on(table(), mask(), math.nan)),
        Case("a step that works in place", InPlace, tuple, True, run_on(_SIGNED * 2)),
        Case("nan in a parameter", NanWeight, tuple, True, run_on(_SIGNED)),
        Case("infinities of both signs, and nan without users", Opposite, tuple, True, run_on(_SIGNED)),
    ),
    given=run_on(table(), mask_of(*[False] * 5)),
)
