"""The side effects of a pass on the process, apart from torch's settings: used random numbers and patched methods."""

from __future__ import annotations

import functools
import gc
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import nn


class Process:
    """A snapshot of the random generators and of torch's methods.

    Until they are restored, the generators have an unlikely seed, so that a pass that sets its own seed is noticed.
    """

    def __init__(self, seed: int) -> None:
        self._before = {name: generator.get() for name, generator in _generators().items()}
        for generator in _generators().values():
            generator.seed(seed)
        self._random = {name: generator.get() for name, generator in _generators().items()}
        self._python = _settings()
        self._methods = {home: dict(vars(home)) for home in _homes()}

    def side_effects(self) -> list[str]:
        """What has changed; each is a sentence without its full stop."""
        return [
            *(
                f"it uses up random numbers of {name}, so the caller gets different ones"
                for name, generator in _generators().items()
                if name in self._random and not _alike(self._random[name], generator.get())
            ),
            *(what for what, now in _settings().items() if now != self._python[what]),
            *(f"`{home.__name__}.{name}` is patched for the whole process" for home, name, _ in self._patched()),
        ]

    def put_back(self) -> None:
        for name, generator in _generators().items():
            if name in self._before:
                generator.put_back(self._before[name])
        for home, name, method in list(self._patched()):
            setattr(home, name, method)
        limit, collects, filters = self._python.values()
        sys.setrecursionlimit(limit)
        gc.enable() if collects else gc.disable()
        warnings.filters[:] = [one for one in warnings.filters if one in filters or not _is_for_all(one)]

    def _patched(self) -> Iterator[tuple[Any, str, Any]]:
        for home, before in self._methods.items():
            now = vars(home)
            if now == before:
                continue
            for name, method in before.items():
                if callable(method) and now.get(name) is not method:
                    yield home, name, method


def _settings() -> dict[str, Any]:
    """Python settings, by the message for each if it differs."""
    return {
        "the recursion limit of Python is changed": sys.getrecursionlimit(),
        "garbage collection is switched on or off": gc.isenabled(),
        "a filter for all warnings is set for the whole process": [one for one in warnings.filters if _is_for_all(one)],
    }


def _is_for_all(one: tuple[Any, ...]) -> bool:
    """Whether a filter applies to warnings with any text from any module; imported libraries set narrower filters."""
    return one[1] is None and one[3] is None and one[2] in (Warning, UserWarning)


class _Generator(NamedTuple):
    get: Callable[[], Any]
    put_back: Callable[[Any], object]
    seed: Callable[[int], object]


def _generators() -> dict[str, _Generator]:
    """The loaded generators. Seeding with torch.manual_seed() would also seed devices that are not in use yet."""
    found = {
        "torch": _Generator(torch.get_rng_state, torch.set_rng_state, torch.default_generator.manual_seed),
        "Python": _Generator(random.getstate, random.setstate, random.seed),
    }
    if numpy := sys.modules.get("numpy"):
        found["NumPy"] = _Generator(numpy.random.get_state, numpy.random.set_state, numpy.random.seed)
    return found


def _alike(before: Any, now: Any) -> bool:
    """Whether two generator states are equal: tensors, or tuples that may hold arrays."""
    if isinstance(before, tuple):
        return all(map(_alike, before, now))
    same = before == now
    return same if isinstance(same, bool) else bool(same.all())


@functools.cache
def _homes() -> tuple[Any, ...]:
    """The classes and modules where torch keeps the methods and functions that models call."""
    layers = {one for one in vars(nn).values() if isinstance(one, type) and issubclass(one, nn.Module)}
    return (nn.Module, torch.Tensor, nn.functional, *sorted(layers - {nn.Module}, key=lambda one: one.__name__))
