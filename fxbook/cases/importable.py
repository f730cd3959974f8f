"""Functions that the graph of a case calls as a user's own, and that loading its pickle imports.

What loads a pickle of a graph writes an import statement, and none can name the folder of a chapter.
"""

from torch import Tensor


def double(value: Tensor) -> Tensor:
    """Can be traced into."""
    return value * 2


def halve(value: Tensor) -> Tensor:
    """Can be traced into."""
    return value / 2


def mul(value: Tensor, factor: float) -> Tensor:
    """Can be traced into, and has the name of what it calls."""
    return value * factor


def magnitude(value: Tensor) -> Tensor:
    """Cannot be traced into."""
    return value if value.sum() > 0 else -value
