"""Follow memory during a run by weak references only: which storages are alive, and how many bytes they hold.

Tensors that share memory (views, results of an in-place operation) share one storage, counted once. Parameters and
buffers are stored in the module whatever the run does, so they are counted apart.
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
    """One storage: its bytes, and the steps at which it was first seen and found gone.

    A step is the place of a node in the list; ``born`` is -1 for what was there before the first node, ``gone`` is
    ``None`` for what outlived the run's last node. ``stored`` says that a module holds it, ``given`` that it came in
    with an input.
    """

    nbytes: int
    born: int
    gone: int | None = None
    stored: bool = False
    given: bool = False


class Memory:
    """The storages seen so far, in the order of their appearance, none kept alive by being seen."""

    def __init__(self, module: nn.Module) -> None:
        self.stores: list[Store] = []
        self.unmeasured = False
        self._alive: dict[int, tuple[weakref.ref, int]] = {}
        for tensor in (*module.parameters(), *module.buffers()):
            self.see(tensor, -1, stored=True)

    def see(self, value: Any, step: int, stored: bool = False, given: bool = False) -> tuple[int, ...]:
        """Take note of the storages of a value; return their numbers in :attr:`stores`."""
        numbers = [self._see(tensor, step) for tensor in tensors_in(value)]
        found = tuple(dict.fromkeys(number for number in numbers if number is not None))
        for number in found:
            self.stores[number].stored |= stored
            self.stores[number].given |= given
        return found

    def measure(self, step: int) -> int:
        """The bytes that storages hold now, those of the module left out; what has gone is written down."""
        held = 0
        for key, (ref, number) in list(self._alive.items()):
            storage = ref()
            if storage is None:
                self.stores[number].gone = step
                del self._alive[key]
            elif not self.stores[number].stored:
                # resize_ changes the size of a storage that is already known.
                self.stores[number].nbytes = storage.nbytes()
                held += storage.nbytes()
        return held

    @property
    def in_module(self) -> int:
        """Bytes of parameters, buffers and other tensors that the module stores."""
        return sum(store.nbytes for store in self.stores if store.stored)

    def _see(self, tensor: torch.Tensor, step: int) -> int | None:
        try:
            storage = tensor.untyped_storage()
            key, nbytes = storage._cdata, storage.nbytes()
        except Exception:
            # Sparse tensors and some subclasses have no storage of their own.
            self.unmeasured = True
            return None
        known = self._alive.get(key)
        if known is not None and known[0]() is storage:
            return known[1]
        if known is not None:
            # A new storage at the address of one that died since the last look.
            self.stores[known[1]].gone = step
        self.stores.append(Store(nbytes, step))
        self._alive[key] = (weakref.ref(storage), len(self.stores) - 1)
        return len(self.stores) - 1


def cloned(inputs: Iterable[Any]) -> list[Any]:
    """The inputs with every tensor replaced by a copy, the same copy for the same tensor; other values as they are."""
    copies: dict[int, torch.Tensor] = {}

    def copy(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in copies:
            copies[id(value)] = value.detach().clone().requires_grad_(value.requires_grad)
        return copies[id(value)]

    return [torch.utils._pytree.tree_map(copy, value) for value in inputs]
