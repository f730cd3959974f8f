"""Awkward values, one place for all cases: what is right for usual values is often wrong for one of these.

They go into a case wherever the task does not exclude them, several at once, since two of them meet in a mistake more
often than one does: a weight that is frozen *and* tied, a buffer that is written *and* returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

# Some are taken for each other: -1 and -2 have one hash, True == 1 == 1.0, float32 has one 0.1, float16 no 2049.
NUMBERS = (-1, -2, 0, False, 1, 1.0, True, 0.1, 0.10000000001, 2049)


def odd_tensors(x: Tensor, *without: str) -> dict[str, Tensor]:
    """The numbers of a tensor in other kinds of tensors, by their kind, and tensors of its kind with other numbers."""
    found = {
        "zeros": torch.zeros_like(x),
        "empty": x[:0],
        "view": torch.stack([x, x], -1)[..., 0],
        "strided": x.transpose(0, -1).contiguous().transpose(0, -1),
        "expanded": x[:1].expand(x.shape),
        "double": x.double(),
        "half": x.half(),
        "scalar": x.sum(),
        "whole": x.round().long(),
    }
    return {name: tensor for name, tensor in found.items() if name not in without}


def odd_weights(model: nn.Module, *without: str) -> nn.Module:
    """The model with weights frozen, zero or both, and with buffers that are scalars, one of them not in its state."""
    for place, weight in enumerate(model.parameters()):
        if place % 2 and "frozen" not in without:
            weight.requires_grad_(False)
        if place % 3 == 1 and "zeros" not in without:
            nn.init.zeros_(weight)
    if "buffers" not in without:
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


class ClosedError(Exception):
    """Takes no attribute, and equals any other of its class."""

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("__"):
            raise AttributeError(f"this error takes no attribute {name}")
        super().__setattr__(name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClosedError)

    def __hash__(self) -> int:
        return 0


# Errors that have attributes of their own, that say their message in another way, or that are taken for a signal.
ERRORS: tuple[Callable[[], Exception], ...] = (
    lambda: ImportError("no module for these rows"),
    lambda: AttributeError("no rows", name="rows", obj=None),
    lambda: KeyError("rows"),
    lambda: StopIteration("rows"),
    lambda: AssertionError(),
    lambda: ClosedError("rows"),
)


def dead(values: Iterable[Tensor]) -> None:
    """Read the values in nodes that no node reads."""
    for value in values:
        torch.exp(value)
