"""Awkward values for all cases: an answer that is right for usual values is often wrong for one of these.

Use them in a case unless the task excludes them, and several at once, since many mistakes need two of them: a weight
that is frozen *and* tied, a buffer that is written *and* returned.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import torch
from torch import nn

# Some are easily confused: hash(-1) == hash(-2), True == 1 == 1.0, float32 rounds both 0.1 alike, float16 lacks 2049.
NUMBERS = (-1, -2, 0, False, 1, 1.0, True, 0.1, 0.10000000001, 2049)


def odd_weights(model: nn.Module) -> nn.Module:
    """Freeze and zero some weights of the model, and add scalar buffers, one of them not persistent."""
    for place, weight in enumerate(model.parameters()):
        weight.requires_grad_(place % 2 == 0)
        if place % 3 == 1:
            nn.init.zeros_(weight)
    model.register_buffer("seen", torch.zeros(()))
    model.register_buffer("limit", torch.ones((), dtype=torch.float64), persistent=False)
    return model


def tied(model: nn.Module, *names: str) -> nn.Module:
    weight = model.get_parameter(names[0])
    for name in names[1:]:
        path, _, own = name.rpartition(".")
        setattr(model.get_submodule(path), own, weight)
    return model


@dataclasses.dataclass
class RowsError(Exception):
    """An error that, as a dataclass, is not hashable and equals any other with the same text."""

    text: str


# Errors with their own attributes or their own way to print a message, that look like a signal, or are not hashable.
ERRORS: tuple[Callable[[], Exception], ...] = (
    lambda: ImportError("no module for these rows"),
    lambda: AttributeError("no rows", name="rows", obj=None),
    lambda: KeyError("rows"),
    lambda: StopIteration("rows"),
    lambda: AssertionError(),
    lambda: RowsError("rows"),
)
