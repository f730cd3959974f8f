"""What the checks of measurements share: when two numbers are equal, and where timing mistakes are explained."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

A_CLOCK = "09_profiling#a-clock-around-every-node"


def close(number: float, expected: float) -> bool:
    """Whether two measurements on the simulated machine are equal, except for rounding."""
    return abs(number - expected) <= 1e-6 * max(abs(expected), 1e-3)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Run the body on one thread: on a busy machine, small models wait longer for threads than they compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
