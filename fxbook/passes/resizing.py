"""The same inputs with different sizes: sizes that the graph leaves open, or that the module turns out to accept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, fx
from torch.utils import _pytree as pytree

from fxbook.passes.calling import Inputs, shapes
from fxbook.passes.growing.inputs import inputs_for, inputs_of_sizes, open_dimensions, takes_sizes

_ROWS = (1, 5)


class Resized(NamedTuple):
    """Inputs of a different size, and whether models often get such inputs: no rows, or one row in one input, are rare.

    ``deeper``: they have one more dimension.
    """

    inputs: Inputs
    usual: bool = True
    deeper: bool = False


def other_sizes(module: fx.GraphModule, inputs: Inputs, *, drawn: bool) -> Iterator[Resized | str]:
    """Inputs of different sizes, on which the module might not run; or a clause that says why there are none.

    Parts of the inputs are repeated, so that an index stays in range. If the inputs are ``drawn``, new random ones may
    be drawn instead.
    """
    dimensions = open_dimensions(module)
    if dimensions is not None and not dimensions:
        yield "the sizes are fixed in this graph"
    elif dimensions is None and drawn:
        found = [Inputs(inputs_for(module, rows)) for rows in _ROWS]
        fixed = all(shapes(one) == shapes(inputs) for one in found)
        yield from ["sizes are fixed: no input has a batch dimension"] if fixed else map(Resized, found)
    elif dimensions is not None and (drawn or takes_sizes(module)):
        for name, places in dimensions.items():
            now = places[0].size
            for size in _sizes(now, first=any(place.dimension == 0 for place in places)):
                yield Resized(Inputs(inputs_of_sizes(module, {name: size})))
    else:
        yield from _resized(inputs, dimensions)


def _sizes(now: int, *, first: bool) -> list[int]:
    sizes = dict.fromkeys((*_ROWS, 2 * now + 1) if first else (1, now + 1))
    return [size for size in sizes if size != now]


def _resized(inputs: Inputs, dimensions: Any) -> Iterator[Resized | str]:
    leaves, form = pytree.tree_flatten(inputs)
    held = {place: leaf for place, leaf in enumerate(leaves) if isinstance(leaf, Tensor) and not leaf.is_nested}

    def with_size(size: int, dimension: int, places: list[int]) -> Inputs:
        new = list(leaves)
        for place in places:
            leaf = leaves[place]
            at = torch.arange(size, device=leaf.device) % leaf.shape[dimension]
            new[place] = leaf.detach().index_select(dimension, at).requires_grad_(leaf.requires_grad)
        return pytree.tree_unflatten(new, form)

    if dimensions is not None and all(one.place in held for ones in dimensions.values() for one in ones):
        for ones in dimensions.values():
            dimension, places = ones[0].dimension, [one.place for one in ones]
            if len({one.dimension for one in ones}) == 1:
                now = leaves[places[0]].shape[dimension]
                for size in _sizes(now, first=dimension == 0):
                    yield Resized(with_size(size, dimension, places))
        return
    by_dimension: list[dict[int, list[int]]] = [
        {} for _ in range(max((leaf.ndim for leaf in held.values()), default=0))
    ]
    for place, leaf in held.items():
        for dimension, size in enumerate(leaf.shape):
            if size:
                by_dimension[dimension].setdefault(size, []).append(place)
    if not any(by_dimension):
        yield "no input has a size that may differ: give `others`"
    for dimension, sizes in enumerate(by_dimension):
        for now, places in sizes.items():
            for size in _sizes(now, first=dimension == 0):
                yield Resized(with_size(size, dimension, places))
    for now, places in by_dimension[0].items() if by_dimension else ():
        yield Resized(with_size(0, 0, places), usual=False)
        if len(places) > 1 and now > 1:
            yield from (Resized(with_size(1, 0, [place]), usual=False) for place in places)
    if any(by_dimension):
        deeper = [
            leaf.detach()[None].requires_grad_(leaf.requires_grad) if i in held else leaf
            for i, leaf in enumerate(leaves)
        ]
        yield Resized(pytree.tree_unflatten(deeper, form), usual=False, deeper=True)
