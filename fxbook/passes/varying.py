"""The same inputs with other numbers: those that somebody happens to give hide what a pass forgets of all others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

_CHANGES: dict[str, Callable[[Tensor], Tensor]] = {
    "with all signs turned": torch.neg,
    "times 1000": lambda held: held * 1000,
    "with nan": lambda held: torch.full_like(held, torch.nan) if held.is_floating_point() else held,
    "with all numbers 0": torch.zeros_like,
    "with twice as many rows": lambda held: torch.cat((held, held)) if held.ndim else held,
    "without rows": lambda held: held[:0] if held.ndim else held,
}
VARIATIONS = tuple(_CHANGES)
"""What :func:`varied` can do, in words."""


def varied(inputs: Sequence[Any], words: Iterable[str], *, indices: bool = True) -> Iterator[tuple[str, Any]]:
    """The inputs with other numbers, one after the other, with the words for each; none where no input has any.

    Args:
        inputs: those to begin with.
        words: some of :data:`VARIATIONS`.
        indices: whether whole numbers change too, which may be indices; masks never do.
    """

    def changes(held: Any) -> bool:
        if not isinstance(held, Tensor) or held.layout != torch.strided or held.is_nested or held.is_quantized:
            return False
        return held.dtype != torch.bool and (indices or held.is_floating_point() or held.is_complex())

    leaves, form = pytree.tree_flatten(inputs)
    if not any(map(changes, leaves)):
        return
    for one in words:
        others = [
            _CHANGES[one](leaf.detach()).requires_grad_(leaf.requires_grad) if changes(leaf) else leaf
            for leaf in leaves
        ]
        yield one, pytree.tree_unflatten(others, form)
