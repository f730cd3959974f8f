"""What the nodes of a growing graph compute, at each of three sizes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, fx
from torch.fx.passes.shape_prop import TensorMetadata
from torch.utils import _pytree as pytree

ROWS = (3, 5, 1)
"""The numbers of rows on which each node is run; ``meta`` describes the first. One row makes more values contiguous."""
FEATURES, IMAGE, TOKENS = 4, (2, 4, 4), 3
"""The possible shapes of a row of an input: features, an image, tokens."""
VOCABULARY = 6
"""Integers in inputs are smaller than this number."""
_MOST_ELEMENTS, _LARGEST, _MOST_DIMENSIONS = 400, 1e3, 4


class StepNotApplicable(Exception):  # noqa: N818 (not an error: the step is left out)
    """A step cannot be done in this graph."""


@dataclasses.dataclass(eq=False)
class Value:
    """A node and what it computed at each size; ``below`` bounds its integers if they are used as an index."""

    node: fx.Node
    at: tuple[Any, ...]
    below: int = 0

    @property
    def example(self) -> Tensor:
        return self.at[0]

    @property
    def row(self) -> torch.Size:
        return self.example.shape[1:]

    @property
    def is_number(self) -> bool:
        return isinstance(self.example, Tensor) and self.example.is_floating_point()

    @property
    def is_mask(self) -> bool:
        return isinstance(self.example, Tensor) and self.example.dtype == torch.bool


def fits(at: Sequence[Any], dtype: torch.dtype) -> None:
    """Raise StepNotApplicable unless each is a small tensor with small values and as many rows as the input."""
    for value, rows in zip(at, ROWS, strict=True):
        if not isinstance(value, Tensor) or not 1 <= value.dim() <= _MOST_DIMENSIONS:
            raise StepNotApplicable
        if value.shape[0] != rows or not 0 < value.numel() <= _MOST_ELEMENTS:
            raise StepNotApplicable
    first = at[0]
    if any(value.shape[1:] != first.shape[1:] or value.dtype != first.dtype for value in at):
        raise StepNotApplicable
    if first.is_floating_point():
        if first.dtype != dtype:
            raise StepNotApplicable
        for value in at:
            small(value)


def small(value: Tensor) -> None:
    with torch.no_grad():
        if not bool(value.abs().max() <= _LARGEST):
            raise StepNotApplicable


def metadata(tensor: Tensor) -> TensorMetadata:
    """The metadata that ``ShapeProp`` records for a tensor; its own function takes ten times as long."""
    formats = [torch.contiguous_format] + [torch.channels_last] * (tensor.dim() == 4)
    found = next((one for one in formats if tensor.is_contiguous(memory_format=one)), None)
    return TensorMetadata(
        tensor.shape, tensor.dtype, tensor.requires_grad, tensor.stride(), found, tensor.is_quantized, {}
    )


def one_of(table: Sequence[Any], number: int) -> Any:
    return table[number % len(table)]


def clipped(values: Sequence[Value], place: int) -> Value:
    """The value at a position, or the last one; raises StepNotApplicable if there is none."""
    if not values:
        raise StepNotApplicable
    return values[min(place, len(values) - 1)]


def storage(tensor: Tensor) -> int:
    return tensor.untyped_storage()._cdata


def tensors(value: Any) -> list[Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, Tensor)]


def copied(args: Sequence[Any]) -> list[Any]:
    return [arg.detach().clone() if isinstance(arg, Tensor) else arg for arg in args]


def swapped(value: Any, kind: type, swap: Callable[[Any], Any]) -> Any:
    """Replace each object of a class among the arguments, at any depth."""
    if isinstance(value, kind):
        return swap(value)
    match value:
        case tuple():
            return tuple(swapped(item, kind, swap) for item in value)
        case list():
            return [swapped(item, kind, swap) for item in value]
        case dict():
            return {key: swapped(item, kind, swap) for key, item in value.items()}
    return value
