"""Python values as JSON: the form in which arguments, settings and results travel between processes.

A value is JSON itself, or a dict whose one key says what it is: ``float`` and ``complex`` (as ``repr``, which is exact
and includes ``nan`` and the infinities), ``tuple``, ``size``, ``dict`` (pairs), ``set``, ``slice``, ``range``,
``dtype``, ``layout``, ``memory_format``, ``device``, ``ellipsis``; or ``opaque``, with the class of any other object.
A deque, and the keys, values or items of a dict, are encoded like a list.
The caller encodes nodes and tensors with ``special``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import torch

JSON = Any
DEEPEST = 20
MOST_ITEMS, MOST_TEXT = 10_000, 100_000
Keys, Values, Items = type({}.keys()), type({}.values()), type({}.items())


def plain(value: Any, special: Callable[[Any], JSON | None], depth: int = 0) -> JSON:
    """A value as JSON of bounded size; never raises.

    Args:
        special: encodes values other than Python's numbers and text, such as NumPy's numbers; returns ``None`` for a
            value that it does not handle.
        depth: how many containers enclose the value.
    """
    match value:
        case None | bool():
            return value
        case int():
            # Of a subclass, such as an IntEnum, only the plain number can be sent.
            return int.__int__(value)
        case str():
            return str.__str__(value) if str.__len__(value) <= MOST_TEXT else {"opaque": "a very long str"}
        case float() if type(value).__repr__ is float.__repr__:
            return {"float": repr(value)}
        case complex() if type(value).__repr__ is complex.__repr__:
            return {"complex": [repr(value.real), repr(value.imag)]}
    if depth > DEEPEST:
        return {"opaque": "a container too deep to read"}
    said = special(value)
    return _container(value, special, depth) if said is None else said


def _container(value: Any, special: Callable[[Any], JSON | None], depth: int) -> JSON:
    def inner(items: Any) -> list[JSON]:
        return [plain(item, special, depth + 1) for item in items]

    match value:
        case tuple() | list() | set() | frozenset() | dict() | deque() | Keys() | Values() | Items() if (
            len(value) > MOST_ITEMS
        ):
            return {"opaque": f"a very long {type(value).__name__}"}
        case torch.Size():
            return {"size": list(value)}
        case tuple():
            return {"tuple": inner(value)}
        case list() | deque() | Keys() | Values() | Items():
            return inner(value)
        case dict():
            return {"dict": [inner(pair) for pair in value.items()]}
        case set() | frozenset():
            return {"set": sorted(inner(value), key=repr)}
        case slice():
            return {"slice": inner((value.start, value.stop, value.step))}
        case range():
            return {"range": [value.start, value.stop, value.step]}
        case torch.dtype() | torch.layout() | torch.memory_format():
            return {type(value).__name__: str(value).removeprefix("torch.")}
        case torch.device():
            return {"device": str(value)}
        case _ if value is Ellipsis:
            return {"ellipsis": True}
        case _:
            return {"opaque": type(value).__qualname__}
