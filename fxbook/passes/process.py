"""What a pass may leave behind in the process, besides torch's settings: numbers drawn, and methods patched."""

from __future__ import annotations

import functools
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn


class Process:
    """The random generators and the methods of torch as they are when this is made."""

    def __init__(self) -> None:
        self._random = {name: get() for name, (get, _) in _generators().items()}
        self._methods = {home: dict(vars(home)) for home in _homes()}

    def side_effects(self) -> list[str]:
        """What is otherwise now; each is a sentence without its stop."""
        return [
            *(
                f"it uses up random numbers of {name}, which the next one to draw would have got"
                for name, (get, _) in _generators().items()
                if name in self._random and not _alike(self._random[name], get())
            ),
            *(f"`{home.__name__}.{name}` is patched for the whole process" for home, name, _ in self._patched()),
        ]

    def put_back(self) -> None:
        """Make it as it was."""
        for name, (_, put_back) in _generators().items():
            if name in self._random:
                put_back(self._random[name])
        for home, name, method in list(self._patched()):
            setattr(home, name, method)

    def _patched(self) -> Iterator[tuple[Any, str, Any]]:
        for home, before in self._methods.items():
            now = vars(home)
            if now == before:
                continue
            for name, method in before.items():
                if callable(method) and now.get(name) is not method:
                    yield home, name, method


def _generators() -> dict[str, tuple[Callable[[], Any], Callable[[Any], object]]]:
    """How to read and to set the random generators that are loaded."""
    found = {"torch": (torch.get_rng_state, torch.set_rng_state), "Python": (random.getstate, random.setstate)}
    if numpy := sys.modules.get("numpy"):
        found["NumPy"] = (numpy.random.get_state, numpy.random.set_state)
    return found


def _alike(before: Any, now: Any) -> bool:
    """Whether two states of a generator are one: a tensor, or a tuple that may hold arrays."""
    if isinstance(before, tuple):
        return all(map(_alike, before, now))
    same = before == now
    return same if isinstance(same, bool) else bool(same.all())


@functools.cache
def _homes() -> tuple[Any, ...]:
    """Where torch keeps the methods and functions that models call."""
    layers = {one for one in vars(nn).values() if isinstance(one, type) and issubclass(one, nn.Module)}
    return (nn.Module, torch.Tensor, nn.functional, *sorted(layers - {nn.Module}, key=lambda one: one.__name__))
