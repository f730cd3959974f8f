"""Two functions on a simulated machine that slows down with each call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage

from ..cases import Machine, between


class Drifting(nn.Module):
    """``first`` takes ``ratio`` times as long as ``second``; each call slows the machine by the factor ``drift``."""

    def __init__(self, rounds: int = 12) -> None:
        super().__init__()
        self.rounds = rounds
        self.ratio, self.drift = between(2.2, 4.0), between(1.015, 1.03)

    def forward(self, x: Tensor) -> Tensor:
        return x


def two_calls(model: nn.Module) -> tuple[Any, ...]:
    """Pass ``(first, second, rounds, machine)``."""
    assert isinstance(model, Drifting)
    machine = Machine(drift=model.drift)
    result = nn.Identity().forward
    first, second = (
        machine.work(name, seconds, result, slow)
        # Their first calls are slower by different factors, so that the factors do not cancel in a ratio.
        for name, seconds, slow in (("first", 0.03, 60.0), ("second", 0.03 / model.ratio, 8.0))
    )
    inputs = torch.randn(2)
    return (lambda: first(inputs)), (lambda: second(inputs)), model.rounds, machine


def measured(
    answer: Callable[..., Any], first: Callable[[], Any], second: Callable[[], Any], rounds: int, machine: Machine
) -> Any:
    """What the answer returns, and how often it called each function after it had first read the clock."""
    returned = answer(first, second, rounds, machine.clock)
    start = machine.log.index(None) if None in machine.log else len(machine.log)
    calls = Counter(entry[0] for entry in machine.log[start:] if entry)
    return returned, calls["first"], calls["second"]


USAGE = Usage(
    "compute",
    cases=(
        Case("a machine that slows down", Drifting, tuple),
        Case("an odd number of rounds", lambda: Drifting(rounds=9), tuple, unseen=True),
    ),
    given=two_calls,
    call=measured,
)
