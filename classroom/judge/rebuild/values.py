"""Read the small parts of a graph's description: names, paths, arguments, tensors.

Everything may be forged (see :mod:`classroom.judge.rebuild.graph`), so each part is checked for form, type, length and
depth.
"""

from __future__ import annotations

import base64
import keyword
import math
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import fx

from fxbook.graph.plain import DEEPEST

JSON = Any
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,200}")
_PATH = re.compile(r"(?!.*(?:^|\.)__)[A-Za-z0-9_]{1,100}(?:\.[A-Za-z0-9_]{1,100}){0,30}")
_MOST_DIMENSIONS = 20
_DTYPES = {
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
}
_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")


class RefusedError(Exception):
    """A description that the grader will not rebuild; the message says why."""


class UnreadableError(Exception):
    """A description that does not have the form that :func:`fxbook.graph.wire.describe` produces."""


# ---- names -----------------------------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """Make untrusted text printable within a sentence."""
    return "".join(letter if letter.isprintable() else " " for letter in text[:100]).strip()


def name_of(name: JSON) -> str:
    """Check a name that torch.fx will write into code.

    Raises:
        RefusedError: it is not an identifier, or is reserved.
        UnreadableError: it is not text.
    """
    if not isinstance(name, str):
        raise UnreadableError
    if not NAME.fullmatch(name) or keyword.iskeyword(name) or name == "self":
        raise RefusedError(f"it has the name {plain(name)!r}, which is not allowed")
    return name


def path_of(path: str) -> str:
    """Check a module path that torch.fx will write into code.

    Raises:
        RefusedError: it is not a path, or leads to Python's own attributes.
    """
    if not _PATH.fullmatch(path):
        raise RefusedError(f"it has the path {plain(path)!r}, which is not allowed")
    return path


def part_of_path(part: str) -> str:
    """Check one part of a path; otherwise like :func:`path_of`."""
    if "." in part:
        raise UnreadableError
    return path_of(part)


def items(entry: JSON, part: str) -> list[tuple[str, JSON]]:
    """The items of a dict in an entry.

    Raises:
        UnreadableError: there is no dict.
    """
    mapping = entry.get(part)
    if not isinstance(mapping, dict):
        raise UnreadableError
    return list(mapping.items())


# ---- values ----------------------------------------------------------------------------------------------------------


def value_of(
    data: JSON,
    node: Callable[[JSON], fx.Node] | None = None,
    tensor: Callable[[JSON], torch.Tensor] | None = None,
    depth: int = 0,
) -> Any:
    """Rebuild an argument or a setting.

    Args:
        node: finds a node that an argument refers to; ``None`` if nodes are not allowed.
        tensor: finds a tensor by its index.
        depth: the number of containers around the value.

    Raises:
        RefusedError: it is nested too deeply, or has a class that the grader does not allow.
        UnreadableError: it is not a value.
    """
    if depth > DEEPEST:
        raise RefusedError("it has a container that is nested too deeply")

    def inner(elements: list[JSON]) -> list[Any]:
        return [value_of(item, node, tensor, depth + 1) for item in elements]

    match data:
        case None | bool() | int() | str():
            return data
        case list():
            return inner(data)
        case {"node": _} | {"foreign": _} if node is not None:
            return node(data)
        case {"tensor": place} if tensor is not None:
            return tensor(place)
        case {"tuple": list(elements)}:
            return tuple(inner(elements))
        case {"dict": list(pairs)} if all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            return {_key(key): value_of(item, node, tensor, depth + 1) for key, item in pairs}
        case {"slice": [start, stop, step]}:
            return slice(*inner([start, stop, step]))
        case {"size": list(sizes)} if all(type(size) is int for size in sizes):
            return torch.Size(sizes)
        case {"opaque": str(what)}:
            raise RefusedError(f"one of its values has class `{plain(what)}`")
        case dict() if len(data) == 1:
            [(kind, inside)] = data.items()
            try:
                return _single(kind, inside)
            except ValueError:
                raise UnreadableError from None
        case _:
            raise UnreadableError


def _single(kind: str, data: JSON) -> Any:
    match kind, data:
        case "float", str():
            return float(data)
        case "complex", [str(real), str(imag)]:
            return complex(float(real), float(imag))
        case "ellipsis", True:
            return ...
        case "range", [int(start), int(stop), int(step)]:
            return range(start, stop, step)
        case "dtype", str() if data in _DTYPES:
            return getattr(torch, data)
        case "layout", "strided":
            return torch.strided
        case "memory_format", str() if data in _FORMATS:
            return getattr(torch, data)
        case "device", "cpu" | "meta":
            return torch.device(data)
        case "dtype" | "layout" | "memory_format" | "device", str():
            raise RefusedError(f"one of its values is the {kind} {plain(data)}")
        case _:
            raise UnreadableError


def _key(key: JSON) -> Any:
    if not isinstance(key, str | int | bool | None):
        raise RefusedError("it has a dict whose keys are not names")
    return key


def tensor_of(entry: JSON) -> torch.Tensor:
    """Rebuild a tensor; it takes no more memory than its data.

    Raises:
        UnreadableError: shape, dtype and data do not match.
    """
    match entry:
        case {"dtype": str(dtype), "shape": list(shape), "data": str(data)} if dtype in _DTYPES:
            kind = getattr(torch, dtype)
        case _:
            raise UnreadableError
    if len(shape) > _MOST_DIMENSIONS or not all(type(size) is int and 0 <= size < 2**40 for size in shape):
        raise UnreadableError
    try:
        raw = bytearray(base64.b64decode(data, validate=True))
    except ValueError:
        raise UnreadableError from None
    if len(raw) != math.prod(shape) * kind.itemsize:
        raise UnreadableError
    if not raw:
        return torch.zeros(shape, dtype=kind)
    # A byte other than 0 and 1 is not a valid bool.
    flat = torch.frombuffer(raw, dtype=torch.uint8).ne(0) if kind == torch.bool else torch.frombuffer(raw, dtype=kind)
    return flat.reshape(shape).clone()
