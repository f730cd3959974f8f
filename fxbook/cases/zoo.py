"""Awkward values, one place for all cases: what is right for usual values is often wrong for one of these.

They go into a case wherever the task does not exclude them, several at once, since two of them meet in a mistake more
often than one does: a weight that is frozen *and* tied, a buffer that is written *and* returned.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import torch
from torch import nn

# Some are taken for each other: -1 and -2 have one hash, True == 1 == 1.0, float32 has one 0.1, float16 no 2049.
NUMBERS = (-1, -2, 0, False, 1, 1.0, True, 0.1, 0.10000000001, 2049)


def odd_weights(model: nn.Module) -> nn.Module:
    """The model with weights frozen, zero or both, and with buffers that are scalars, one of them not in its state."""
    for place, weight in enumerate(model.parameters()):
        weight.requires_grad_(place % 2 == 0)
        if place % 3 == 1:
            nn.init.zeros_(weight)
    model.register_buffer("seen", torch.zeros(()))
    model.register_buffer("limit", torch.ones((), dtype=torch.float64), persistent=False)
    return model


def tied(model: nn.Module, *names: str) -> nn.Module:
    """The model with one parameter under these names."""
    weight = model.get_parameter(names[0])
    for name in names[1:]:
        path, _, own = name.rpartition(".")
        setattr(model.get_submodule(path), own, weight)
    return model


@dataclasses.dataclass
class RowsError(Exception):
    """As a dataclass it has no hash, and equals any other with the same text."""

    text: str


# Errors that have attributes of their own, say their message in another way, are taken for a signal, or have no hash.
ERRORS: tuple[Callable[[], Exception], ...] = (
    lambda: ImportError("no module for these rows"),
    lambda: AttributeError("no rows", name="rows", obj=None),
    lambda: KeyError("rows"),
    lambda: StopIteration("rows"),
    lambda: AssertionError(),
    lambda: RowsError("rows"),
)
