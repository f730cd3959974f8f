"""Follow memory during a run, through weak references only: which storages are alive, and how many bytes they hold.

Tensors that share memory (views, results of in-place operations) share one storage, which is counted once. The module
keeps its parameters and buffers in any case, so they are counted separately.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from fxbook.stepping.run.values import tensors_in


@dataclasses.dataclass
class Store:
    """One storage: its bytes, and the steps at which it appeared and was freed.

    A step is a node's position in the list. ``born`` is -1 if the storage appeared before the first node, and ``gone``
    is ``None`` if it outlived the last node. ``stored`` says that a module holds it, ``given`` that it is
    from an input. ``held`` is how many of its bytes currently count.
    """

    nbytes: int
    born: int
    gone: int | None = None
    stored: bool = False
    given: bool = False
    held: int = 0


class Memory:
    """The storages seen so far, in the order of appearance; none of them is kept alive."""

    def __init__(self, module: nn.Module) -> None:
        self.stores: list[Store] = []
        self.unmeasured = False
        self._alive: dict[int, tuple[weakref.ref, int]] = {}
        # Updated incrementally, since a sum over all storages after every node would be slow in a large graph.
        self._refs: dict[int, weakref.ref] = {}
        self._held = 0
        self._died: list[tuple[int, int]] = []
        for tensor in (*module.parameters(), *module.buffers()):
            self.see(tensor, -1, stored=True)

    def see(self, value: Any, step: int, stored: bool = False, given: bool = False) -> tuple[int, ...]:
        numbers = [self._see(tensor, step) for tensor in tensors_in(value)]
        found = tuple(dict.fromkeys(number for number in numbers if number is not None))
        for number in found:
            self.stores[number].stored |= stored
            self.stores[number].given |= given
        self.weigh(found)
        return found

    def weigh(self, numbers: Iterable[int]) -> None:
        """Update storages whose sizes ``resize_`` may have changed."""
        for number in numbers:
            store, storage = self.stores[number], self._refs[number]()
            now = storage.nbytes() if storage is not None else store.nbytes
            self._held += (0 if store.stored else now) - store.held
            store.nbytes, store.held = now, 0 if store.stored else now

    def measure(self, step: int) -> int:
        """Record freed storages; return the bytes that the other storages hold, not counting the module's."""
        for key, number in self._died:
            store = self.stores[number]
            if store.gone is None:
                store.gone = step
                self._alive.pop(key)
            self._held -= store.held
            store.held = 0
        self._died.clear()
        return self._held

    @property
    def in_module(self) -> int:
        return sum(store.nbytes for store in self.stores if store.stored)

    def _see(self, tensor: torch.Tensor, step: int) -> int | None:
        try:
            storage = tensor.untyped_storage()
            key, nbytes = storage._cdata, storage.nbytes()
        except Exception:
            # Sparse tensors and some subclasses have no storage.
            self.unmeasured = True
            return None
        known = self._alive.get(key)
        if known is not None and known[0]() is storage:
            return known[1]
        if known is not None:
            # This is a new storage at the address of one that has been freed.
            self.stores[known[1]].gone = step
        number = len(self.stores)
        self.stores.append(Store(nbytes, step))
        self._refs[number] = weakref.ref(storage, lambda _: self._died.append((key, number)))
        self._alive[key] = self._refs[number], number
        return number


def cloned(inputs: Iterable[Any]) -> list[Any]:
    """The inputs with every tensor replaced by a copy, always the same copy for the same tensor; other values stay."""
    copies: dict[int, torch.Tensor] = {}

    def copy(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in copies:
            copies[id(value)] = value.detach().clone().requires_grad_(value.requires_grad)
        return copies[id(value)]

    return [torch.utils._pytree.tree_map(copy, value) for value in inputs]
