"""Compare functions by their code and the values that it holds, not by identity."""

from __future__ import annotations

import functools
import hashlib
import types
from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from fxbook.graph.stored import bytes_of, held_by

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


def identity(called: Any) -> str:
    """A text that is the same for two functions if and only if their code, closures and defaults are equal.

    If a pass makes a lambda, each run makes a new object, but the program is the same.

    Example:
        >>> def times(factor):
        ...     return lambda x: x * factor
        >>> identity(times(2)) == identity(times(2)), identity(times(2)) == identity(times(3))
        (True, False)
    """
    return _text(called, ())


def _text(value: Any, met: tuple[int, ...]) -> str:
    if id(value) in met:
        return "itself"
    if isinstance(value, _PLAIN):
        # 1, 1.0 and True are equal, but not the same constant.
        return f"{type(value).__name__} {value!r}"
    met = (*met, id(value))
    match value:
        case types.CodeType():
            held = (value.co_name, value.co_code.hex(), value.co_names, value.co_varnames, value.co_freevars)
            return f"{held} {_each(value.co_consts, met)}"
        case types.FunctionType():
            cells = [_cell(cell, met) for cell in value.__closure__ or ()]
            kept = (value.__defaults__, value.__kwdefaults__)
            return f"{value.__module__} {_text(value.__code__, met)} {cells} {_each(kept, met)}"
        case types.MethodType():
            return f"{_text(value.__func__, met)} of {_text(value.__self__, met)}"
        case functools.partial():
            return f"partial {_each((value.func, value.args, value.keywords), met)}"
        case tuple() | list():
            return f"{type(value).__name__} {_each(value, met)}"
        case Mapping():
            return f"{type(value).__name__} {[(_text(key, met), _text(held, met)) for key, held in value.items()]}"
        case Tensor():
            return f"{tuple(value.shape)} {value.dtype} {_bytes(value)}"
        case nn.Module():
            inner = [(path, repr(below), _each(dict(held_by(below)), met)) for path, below in value.named_modules()]
            return f"{type(value).__qualname__} {inner}"
    return f"{value!r} {id(value)}"


def _each(values: Any, met: tuple[int, ...]) -> str:
    pairs = values.items() if isinstance(values, Mapping) else enumerate(values)
    return repr([(name, _text(held, met)) for name, held in pairs])


def _cell(cell: types.CellType, met: tuple[int, ...]) -> str:
    try:
        return _text(cell.cell_contents, met)
    except ValueError:
        return "empty"


def _bytes(tensor: Tensor) -> str:
    try:
        return hashlib.sha256(bytes_of(tensor).numpy().tobytes()).hexdigest()
    except Exception:
        return str(id(tensor))
