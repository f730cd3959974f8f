"""What the checks of measurements share: when two numbers are equal, and where timing mistakes are explained."""

from __future__ import annotations

A_CLOCK = "09_profiling#a-clock-around-every-node"


def close(number: float, expected: float) -> bool:
    """Whether two measurements on the simulated machine are equal, except for rounding."""
    return abs(number - expected) <= 1e-6 * max(abs(expected), 1e-3)
