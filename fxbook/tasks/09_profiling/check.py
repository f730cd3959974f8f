"""What the judges of measurements share: when numbers are equal, and where timing faults are explained."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

A_CLOCK = "09_profiling#a-clock-around-every-node"


def close(number: float, wanted: float) -> bool:
    """Whether two measurements of the machine are equal."""
    return abs(number - wanted) <= 1e-6 * max(abs(wanted), 1e-3)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Run the body on one thread: small models on a busy machine wait for their threads longer than they compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
