"""Variants of given inputs, since any one input hides some mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

_LARGE = {torch.int64: 2**33, torch.int32: 2**17, torch.int16: 2**9}
"""Factors that make small integers overflow the next smaller type."""


def _flip_signs(held: Tensor, place: int) -> Tensor:
    """Flip the sign of every other element; in the next input, flip the rest."""
    signs = torch.ones(held.numel(), dtype=held.dtype, device=held.device)
    signs[place % 2 :: 2] = -1
    return held * signs.reshape(held.shape)


def _with_zeros(held: Tensor, _: int) -> Tensor:
    flat = held.clone(memory_format=torch.contiguous_format).reshape(-1)
    flat[1::3] = flat[1:2].clone()
    flat[::3] = 0
    return flat.reshape(held.shape)


def _drawn_again(held: Tensor, place: int) -> Tensor:
    """New random integers in the same range, or 0, so that an index stays in range."""
    if not held.numel():
        return held
    low, high = min(0, int(held.min())), int(held.max())
    drawn = torch.randint(low, high + 1, (held.numel(),), generator=torch.Generator().manual_seed(place + 1))
    # Every other number counts up from the lowest, since an embedding may treat index 0 or 1 as padding.
    drawn[::2] = torch.arange(len(drawn[::2])) % (high - low + 1) + low
    return drawn.reshape(held.shape).to(held)


def _with_imaginary(held: Tensor, place: int) -> Tensor:
    drawn = torch.randn(held.shape, generator=torch.Generator().manual_seed(place + 1))
    return held + 1j * drawn.to(held)


def _flipped(held: Tensor, place: int) -> Tensor:
    new = held.clone(memory_format=torch.contiguous_format).reshape(-1)
    new[place % 2 :: 2] ^= True
    return new.reshape(held.shape)


def _is_whole(held: Tensor) -> bool:
    return not (held.is_floating_point() or held.is_complex() or held.dtype == torch.bool)


def _may_leave_its_range(held: Tensor) -> bool:
    """Whether an index may be out of range: only the CPU reports it; on other devices, an error ends computation."""
    return held.device.type == "cpu" and held.dtype in _LARGE


def _is_number(held: Tensor) -> bool:
    return held.is_floating_point() or held.is_complex()


class _Change(NamedTuple):
    """A change to an input, given its position, and the inputs that it applies to."""

    of: Callable[[Tensor, int], Tensor]
    concerns: Callable[[Tensor], bool]


_CHANGES: dict[str, _Change] = {
    "with all signs flipped": _Change(lambda held, _: -held, _is_number),
    "with every other sign flipped": _Change(_flip_signs, _is_number),
    "with zeros and equal numbers": _Change(_with_zeros, _is_number),
    "with other imaginary parts": _Change(_with_imaginary, Tensor.is_complex),
    "with other whole numbers": _Change(_drawn_again, _is_whole),
    "with whole numbers larger by 1": _Change(lambda held, _: held + 1, _may_leave_its_range),
    "with large whole numbers": _Change(lambda held, _: held * _LARGE[held.dtype], _may_leave_its_range),
    "with whole numbers of either sign": _Change(_flip_signs, _may_leave_its_range),
    "with other masks": _Change(_flipped, lambda held: held.dtype == torch.bool),
    "with 3000 added": _Change(lambda held, _: held + 3000, Tensor.is_floating_point),
    "in channels_last": _Change(
        lambda held, _: held.contiguous(memory_format=torch.channels_last), lambda held: held.ndim == 4
    ),
    "that are not contiguous": _Change(lambda held, _: held.mT.contiguous().mT, lambda held: held.ndim > 1),
    "times 1000": _Change(lambda held, _: held * 1000, _is_number),
    "with nan": _Change(lambda held, _: torch.full_like(held, torch.nan), Tensor.is_floating_point),
    "with all numbers 0": _Change(lambda held, _: torch.zeros_like(held), lambda held: held.dtype != torch.bool),
    "with twice as many rows": _Change(
        lambda held, _: torch.cat((held, held)) if held.ndim else held, lambda held: held.dtype != torch.bool
    ),
    "without rows": _Change(lambda held, _: held[:0] if held.ndim else held, lambda held: held.dtype != torch.bool),
}
VARIATIONS = tuple(_CHANGES)
"""The words for :func:`varied`."""


def varied(inputs: Sequence[Any], words: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """The inputs with different values: a variant for each of the words whose change has an effect."""
    leaves, form = pytree.tree_flatten(inputs)
    for one in words:
        change = _CHANGES[one]
        others = [
            change.of(leaf.detach(), place).requires_grad_(leaf.requires_grad)
            if _is_plain(leaf) and change.concerns(leaf)
            else leaf
            for place, leaf in enumerate(leaves)
        ]
        if any(other is not leaf for other, leaf in zip(others, leaves, strict=True)):
            yield one, pytree.tree_unflatten(others, form)


def with_other_numbers(inputs: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    leaves, form = pytree.tree_flatten(inputs)
    others = [leaf * 1.5 + 1 if type(leaf) is float else leaf + 1 if type(leaf) is int else leaf for leaf in leaves]
    if any(other is not leaf for other, leaf in zip(others, leaves, strict=True)):
        yield "with other Python numbers", pytree.tree_unflatten(others, form)


def _is_plain(held: Any) -> bool:
    """Whether it is a tensor whose values may be replaced."""
    if not isinstance(held, Tensor) or held.layout != torch.strided:
        return False
    return not (held.is_nested or held.is_quantized or held.is_meta)
