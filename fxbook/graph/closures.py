"""Find a module that a function holds, for example in a closure, whose computation no node shows."""

from __future__ import annotations

import contextlib
import functools
import types
from typing import Any

import torch
from torch import nn

from fxbook.graph.naming import module_kind

_DEEPEST, _MOST = 4, 20
_OF_TORCH = ("torch._", "builtins", "_")


def module_held(function: Any) -> str:
    """The module that a function holds, such as ``"a torch.nn.Linear"``, or ``""``.

    The module may be in a closure, a default, the object of a bound method, an argument of ``functools.partial`` or an
    attribute, or it may be the function itself.
    """
    waiting: list[tuple[Any, int]] = [(function, 0)]
    met: set[int] = set()
    while waiting:
        value, depth = waiting.pop()
        if id(value) in met or depth > _DEEPEST:
            continue
        met.add(id(value))
        if isinstance(value, nn.Module):
            return f"a {module_kind(value)}"
        waiting += [(inner, depth + 1) for inner in _kept_by(value)]
    return ""


def _kept_by(value: Any) -> list[Any]:
    """The values that a function or callable object can use besides its arguments."""
    match value:
        case types.FunctionType():
            defaults = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
            return [*_in_cells(value), *defaults]
        case types.MethodType():
            return [value.__self__, value.__func__]
        case functools.partial():
            return [value.func, *value.args, *value.keywords.values()]
        case list() | tuple():
            return list(value[:_MOST])
        case dict():
            return list(value.values())[:_MOST]
        case type() | types.ModuleType() | torch.Tensor():
            return []
        case _ if type(value).__module__.startswith(_OF_TORCH):
            return []
        case _:
            return list(getattr(value, "__dict__", {}).values())[:_MOST]


def _in_cells(function: types.FunctionType) -> list[Any]:
    contents = []
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # The closure cell is empty.
            contents.append(cell.cell_contents)
    return contents
