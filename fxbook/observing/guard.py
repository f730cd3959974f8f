"""Notice, and undo, what an answer replaces in torch, torch.fx or this library."""

from __future__ import annotations

import builtins
import contextlib
import operator
import sys
from collections.abc import Iterator
from types import CellType, FunctionType, ModuleType
from typing import Any

import torch
from torch import fx, nn

_OWN = "fxbook"
_MISSING = object()
# Importing torch's compiler replaces this function, and an answer that exports a model imports the compiler.
_BY_TORCH = {"torch.manual_seed"}
# The Dynamo functions, by module and name, that wrap torch functions.
_MAKERS = (
    ("torch._dynamo.mutation_guard", "install_generation_tagging_init"),
    ("torch._dynamo.eval_frame", "DisableContext.__call__"),
)


class Guard:
    """A snapshot of the functions and classes in torch, torch.fx, torch.nn and this library."""

    def __init__(self) -> None:
        self._kept: list[tuple[str, Any, dict[str, Any]]] = [
            (name, owner, {key: value for key, value in vars(owner).items() if _watched(key, value)})
            for name, owner in _owners()
        ]

    def replaced(self) -> list[str]:
        return [f"{name}.{key}" for name, _, key, _ in self._differing()]

    def put_back(self) -> None:
        for _, owner, key, value in self._differing():
            setattr(owner, key, value)

    def _differing(self) -> list[tuple[str, Any, str, Any]]:
        return [
            (name, owner, key, value)
            for name, owner, kept in self._kept
            for key, value in kept.items()
            if (now := vars(owner).get(key, _MISSING)) is not value
            and f"{name}.{key}" not in _BY_TORCH
            and not _wraps(now, value)
        ]


def _wraps(now: Any, before: Any) -> bool:
    """Whether this is Dynamo's wrapper around ``before``, installed at its first use to notice or skip calls."""
    if not isinstance(now, FunctionType):
        return False
    made = any(now.__code__ is constant for maker in _makers() for constant in maker.__code__.co_consts)
    return made and any(_holds(cell, before) for cell in now.__closure__ or ())


def _holds(cell: CellType, value: Any) -> bool:
    with contextlib.suppress(ValueError):  # The closure cell is empty.
        return cell.cell_contents is value
    return False


def _makers() -> Iterator[Any]:
    for module, path in _MAKERS:
        with contextlib.suppress(KeyError, AttributeError):
            yield operator.attrgetter(path)(sys.modules[module])


def _watched(key: str, value: Any) -> bool:
    return (callable(value) or isinstance(value, property | staticmethod | classmethod)) and key not in _OF_THE_CLASS


# Bookkeeping of Interpreter and ABC, which changes by itself.
_OF_THE_CLASS = {"__class__", "_abc_impl", "__annotations__", "__annotate__", "__annotate_func__"}


def _owners() -> list[tuple[str, Any]]:
    spaces: list[tuple[str, ModuleType]] = [
        ("builtins", builtins),
        ("torch", torch),
        ("torch.fx", fx),
        ("torch.nn", nn),
        ("torch.nn.functional", nn.functional),
    ]
    spaces += [(name, module) for name, module in sorted(sys.modules.items()) if name.split(".")[0] == _OWN]
    classes = [("torch.nn.Module", nn.Module), ("torch.Tensor", torch.Tensor)]
    classes += [(f"torch.fx.{name}", found) for name, found in vars(fx).items() if isinstance(found, type)]
    return [*((name, module) for name, module in spaces if module is not None), *classes]
