"""Compare the memory layouts of results, and the views that a caller can take of them."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree


def layout_of(result: Any) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Shape and strides of each dense tensor in a result, by path."""
    return {
        pytree.keystr(path): (tuple(leaf.shape), leaf.stride())
        for path, leaf in pytree.tree_flatten_with_path(result)[0]
        if isinstance(leaf, Tensor) and leaf.layout == torch.strided and not leaf.is_nested
    }


def laid_otherwise(before: dict[str, tuple[Any, Any]], after: dict[str, tuple[Any, Any]]) -> str | None:
    """How a result's layout changed so that a caller cannot use it as before; arguments as in :func:`unviewable`."""
    return unviewable(before, after) or _other_format(before, after)


def _other_format(before: dict[str, tuple[Any, Any]], after: dict[str, tuple[Any, Any]]) -> str | None:
    """Whether a result is no longer channels_last, the format in which convolutions are fastest."""
    for place, (shape, strides) in before.items():
        now = after.get(place, (None, None))
        if now[0] == shape and _channels_last(shape, strides) and not _channels_last(*now):
            return (
                f"the result{place} has the strides {now[1]} instead of {strides}, which is channels_last: keep the "
                "memory format, with .contiguous(memory_format=torch.channels_last)"
            )
    return None


def _channels_last(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether strides are channels_last; false with only one channel or one pixel, where the two formats coincide."""
    channels_last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(len(shape))
    if channels_last is None:
        return False
    held = torch.empty_strided(shape, strides, device="meta")
    return held.is_contiguous(memory_format=channels_last) and not held.is_contiguous()


def unviewable(before: dict[str, tuple[Any, Any]], after: dict[str, tuple[Any, Any]]) -> str | None:
    """How the layout of a result has changed so that a ``view`` of it now raises, or ``None``.

    Both arguments come from :func:`layout_of`, for the result before the pass and after it.
    """
    for place, (shape, strides) in before.items():
        now = after.get(place, (None, None))
        if now[0] == shape and not _joined(shape, strides) <= _joined(*now):
            return (
                f"the result{place} has the strides {now[1]} instead of {strides}; a caller's `.view` "
                "now raises: end with .contiguous(), or keep the order of dimensions"
            )
    return None


def _joined(shape: tuple[int, ...], strides: tuple[int, ...]) -> set[int]:
    """The dimensions that a view can merge with the next one; all of them if there is at most one element."""
    if 0 in shape:
        return set()
    long = [(size, stride) for size, stride in zip(shape, strides, strict=True) if size != 1]
    return {i for i, ((_, outer), (size, inner)) in enumerate(itertools.pairwise(long)) if outer == size * inner}
