"""Functions that the graph of a case calls as if a user had written them.

A pickled graph imports them by name when it is loaded, and a chapter's folder has no importable name.
"""

from torch import Tensor


def double(value: Tensor) -> Tensor:
    """Traceable."""
    return value * 2


def halve(value: Tensor) -> Tensor:
    """Traceable."""
    return value / 2


def mul(value: Tensor, factor: float) -> Tensor:
    """Traceable, and named like the function it calls."""
    return value * factor


def magnitude(value: Tensor) -> Tensor:
    """Not traceable."""
    return value if value.sum() > 0 else -value
