"""Find what a module's results share memory with: its inputs, its stored tensors, and one another."""

from __future__ import annotations

import copy
import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, fx
from torch.utils import _pytree as pytree

from fxbook.passes.calling import call
from fxbook.passes.outcome import dense, kept, tensors_of


@dataclasses.dataclass(frozen=True)
class Shared:
    """A result, by its path in the return value, and what it shares memory with: a kind, a key and a name.

    The kind is ``input``, ``stored`` or ``result``; the key is unique within its kind.
    """

    result: str
    kind: str
    key: Any
    name: str = dataclasses.field(compare=False)


def shared_memory(module: fx.GraphModule, inputs: Sequence[Any]) -> list[Shared]:
    own = copy.deepcopy(inputs)
    with kept(module), torch.no_grad():
        results = _tensors(call(module, own))
        names = [str(node.target) for node in module.graph.nodes if node.op == "placeholder"]
        given = [leaf for leaf in pytree.tree_leaves(own) if dense(leaf)]
        if len(names) != len(given):
            names = [str(place) for place in range(len(given))]
        others = [
            ("input", i, f"the input `{name}`", leaf) for i, (name, leaf) in enumerate(zip(names, given, strict=True))
        ]
        others += [("stored", name, f"`{name}`", held) for name, held in tensors_of(module).items() if dense(held)]
        found = [
            Shared(path, kind, key, name)
            for path, result in results
            for kind, key, name, other in others
            if overlap(result, other)
        ]
    found += [
        Shared(path, "result", later, f"the result{later}")
        for (path, result), (later, other) in itertools.combinations(results, 2)
        if overlap(result, other)
    ]
    return found


def newly_shared(before: fx.GraphModule, after: fx.GraphModule, inputs: Sequence[Any]) -> Iterator[Shared]:
    """What a result shares memory with after a pass, but not before it; may raise.

    If the result shared memory with a stored tensor before, a new stored tensor counts as that one.
    """
    old = shared_memory(before, inputs)
    names = tensors_of(before).keys()
    of_the_stored = {one.result for one in old if one.kind == "stored"}
    for one in shared_memory(after, inputs):
        renamed = one.kind == "stored" and one.key not in names and one.result in of_the_stored
        if one not in old and not renamed:
            yield one


def overlap(one: Tensor, other: Tensor) -> bool:
    """Whether a write into one tensor can change the other, because both use the same bytes of a storage.

    Example:
        >>> import torch
        >>> rows = torch.zeros(4, 2)
        >>> overlap(rows[:2], rows[1:]), overlap(rows[:, 0], rows[:, 1]), overlap(rows, torch.zeros(4, 2))
        (True, False, False)
    """
    storage = one.untyped_storage()
    if storage.data_ptr() != other.untyped_storage().data_ptr():
        return False
    marks = torch.zeros(storage.nbytes(), dtype=torch.bool)
    _bytes(marks, one).fill_(True)
    return bool(_bytes(marks, other).any())


def _bytes(marks: Tensor, tensor: Tensor) -> Tensor:
    width = tensor.element_size()
    # An expanded dimension repeats the same bytes.
    sizes = [1 if stride == 0 and size else size for size, stride in zip(tensor.shape, tensor.stride(), strict=True)]
    strides = [stride * width for stride in tensor.stride()]
    return marks.as_strided((*sizes, width), (*strides, 1), tensor.storage_offset() * width)


def _tensors(result: Any) -> list[tuple[str, Tensor]]:
    leaves = pytree.tree_flatten_with_path(result)[0]
    return [(pytree.keystr(path), leaf) for path, leaf in leaves if dense(leaf)]
