"""Describe a value of a run as plain data: its kind, dtype and shape, and its first numbers."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree

from fxbook.drawing.lettering import clean, cut
from fxbook.graph.naming import module_kind

_GLIMPSED = 5
"""The maximum number of elements of a tensor to show."""
_DIGITS = 3
"""Significant digits of the largest number shown, so that what is zero up to rounding reads 0."""
_MOST_PARTS = 4


@dataclasses.dataclass(frozen=True)
class Described:
    """A value in words: ``float32``, ``(2, 4)``, ``1.2 0 -0.31 …``, each possibly ``""``."""

    dtype: str
    shape: str
    glimpse: str
    requires_grad: bool = False
    on_meta: bool = False

    @property
    def kind(self) -> str:
        """dtype and shape: ``float32 (2, 4)``."""
        return f"{self.dtype} {self.shape}".strip()


def tensors_in(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in _pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def describe(value: Any) -> Described:
    """Describe any value; this never raises, and never keeps the value alive."""
    try:
        return _described(value)
    except Exception as error:
        return Described(type(value).__name__, "", f"not readable: {type(error).__name__}")


def _described(value: Any) -> Described:
    if isinstance(value, torch.Tensor):
        return Described(_dtype(value), _shape(value), _numbers(value), value.requires_grad, value.is_meta)
    if isinstance(value, nn.Module):
        return Described(module_kind(value), "", "a module")
    if value is None or isinstance(value, bool | int | float | complex | str):
        return Described(type(value).__name__ if value is not None else "None", "", cut(clean(repr(value)), 40))
    if isinstance(value, tuple | list | dict):
        return _container(value)
    return Described(clean(type(value).__name__, 60), "", "")


def _container(value: tuple | list | dict) -> Described:
    keys = [f"{clean(key, 20)}: " for key in value] if isinstance(value, dict) else [""] * len(value)
    parts = [describe(item) for item in (value.values() if isinstance(value, dict) else value)]
    kinds = [key + part.kind for key, part in zip(keys, parts, strict=True)]
    glimpses = [part.glimpse for part in parts[:_MOST_PARTS] if part.glimpse]
    more = len(parts) - _MOST_PARTS
    kinds = kinds[:_MOST_PARTS] + ([f"and {more} more"] if more > 0 else [])
    return Described(
        f"{clean(type(value).__name__, 60).removeprefix('immutable_')} of {len(parts)}",
        f"[{', '.join(kinds)}]" if kinds else "",
        cut(" | ".join(glimpses), 60),
        any(part.requires_grad for part in parts),
        any(part.on_meta for part in parts),
    )


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _shape(tensor: torch.Tensor) -> str:
    return str(tuple(tensor.shape))


def _numbers(tensor: torch.Tensor) -> str:
    if tensor.is_meta:
        return "on meta: no numbers"
    if tensor.numel() == 0:
        return "empty"
    try:
        numbers = _first_of(tensor)
    except Exception as error:
        return f"not readable: {type(error).__name__}"
    return " ".join(rounded(numbers)) + (" …" if tensor.numel() > _GLIMPSED else "")


def _first_of(tensor: torch.Tensor) -> list[Any]:
    """The first numbers in row-major order, copying only a corner of the tensor."""
    corner = tensor.detach()
    # The first k elements in row-major order have every coordinate below k.
    for axis, size in enumerate(corner.shape):
        if size > _GLIMPSED:
            corner = corner.narrow(axis, 0, _GLIMPSED)
    return corner.reshape(-1)[:_GLIMPSED].tolist()


def rounded(numbers: list[Any]) -> list[str]:
    """Numbers as text, with the decimal places that the largest of them needs."""
    if not all(isinstance(number, float) for number in numbers):
        return [str(number) for number in numbers]
    largest = max((abs(number) for number in numbers if math.isfinite(number)), default=0.0)
    if largest == 0:
        return [f"{number:g}".replace("-0", "0") for number in numbers]
    places = _DIGITS - 1 - math.floor(math.log10(largest))
    # Adding 0.0 turns -0.0 into 0.0.
    return [
        f"{round(number, places) + 0.0:.{_DIGITS + 1}g}" if math.isfinite(number) else str(number) for number in numbers
    ]
