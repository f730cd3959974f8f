"""Encode values as plain data, to send them between processes as JSON and compare them there.

The form is that of :mod:`fxbook.graph.plain`. A tensor is ``{"tensor": dtype, "shape": […], "data": [flat]}``, where
``float32`` and ``float64`` are exact; a node is ``{"node": name}``, a function ``{"function": name}``. NumPy's numbers,
fractions and decimals are encoded like Python's numbers; NumPy's arrays of numbers or text, and ranges, like lists.
"""

from __future__ import annotations

import decimal
import fractions
import math
import sys
from collections import deque
from typing import Any

import torch
from torch import fx

from fxbook.graph.naming import callable_name
from fxbook.graph.plain import MOST_ITEMS, Items, Keys, Values, plain

Value = Any
_MOST_ELEMENTS = 200_000
# Two ways of computing the same value round differently; a wrong answer differs by far more.
_TOLERANCE = {torch.float64: 1e-8, torch.complex128: 1e-8, torch.float16: 1e-2, torch.bfloat16: 2e-2}


def encode(value: Any) -> Value:
    """Any value as JSON of bounded size; never raises."""
    return plain(value, _special)


def _special(value: Any) -> Value | None:
    match value:
        case torch.Tensor():
            return _encode_tensor(value)
        case fx.Node():
            return {"node": value.name}
        case fx.Proxy():
            # A Proxy has every attribute, and is not a function.
            return {"opaque": "Proxy"}
        case torch.dtype() | torch.device():
            return {"torch": str(value)}
        case torch.Size():
            return {"tuple": [plain(size, _special) for size in value]}
        case range() if not value[MOST_ITEMS:]:
            return list(value)
        case tuple() | list() | dict() | set() | frozenset() | deque() | Keys() | Values() | Items():
            return None
        case _ if (number := _number_of_numpy(value)) is not None:
            return plain(number, _special)
        case _ if (numbers := _list_of_numpy(value)) is not None:
            return plain(numbers, _special)
        case float():
            # A subclass of float may define its own repr.
            return {"float": float.__repr__(value)}
        case _ if type(value) in (fractions.Fraction, decimal.Decimal):
            return {"float": repr(_as_float(value))}
        case _ if callable(value) and hasattr(value, "__name__"):
            return {"function": callable_name(value)}
        case _:
            return {"opaque": type(value).__qualname__}


def _as_float(number: fractions.Fraction | decimal.Decimal) -> float:
    try:
        return float(number)
    except (OverflowError, ValueError):  # Too large, or a signalling NaN.
        return math.nan


def _number_of_numpy(value: Any) -> bool | int | float | complex | None:
    """A NumPy number as a Python number, or ``None``; if the value is NumPy's, NumPy has been imported."""
    generic: Any = getattr(sys.modules.get("numpy"), "generic", ())
    if not isinstance(value, generic):
        return None
    number = generic.item(value)
    return number if type(number) in (bool, int, float, complex) else None


def _list_of_numpy(value: Any) -> list[Any] | None:
    """A NumPy array of numbers or text as nested lists, or ``None``."""
    array: Any = getattr(sys.modules.get("numpy"), "ndarray", ())
    if not isinstance(value, array) or value.dtype.kind not in "biufUO" or not 0 < value.ndim < 3:
        return None
    # An array of objects could hold itself.
    is_flat = value.dtype.kind != "O" or all(isinstance(item, str) for item in value.flat)
    return array.tolist(value) if is_flat and value.size <= _MOST_ELEMENTS else None


def _encode_tensor(tensor: torch.Tensor) -> Value:
    try:
        return _read_tensor(tensor)
    except RuntimeError:
        # It has no storage, has a dtype that torch cannot read, escaped from `vmap`, is ragged, or is not initialized
        # yet.
        return {"opaque": "a tensor that cannot be read"}


def _read_tensor(tensor: torch.Tensor) -> Value:
    dtype = str(tensor.dtype).removeprefix("torch.")
    shape = list(tensor.shape)
    if not all(isinstance(size, int) for size in shape):
        return {"opaque": "a tensor whose sizes are symbols"}
    if tensor.numel() > _MOST_ELEMENTS or tensor.is_meta or tensor.is_quantized or tensor.layout != torch.strided:
        return {"tensor": dtype, "shape": shape, "data": None}
    flat = tensor.detach().cpu().resolve_conj().resolve_neg().reshape(-1)
    return {"tensor": dtype, "shape": shape, "data": (torch.view_as_real(flat) if flat.is_complex() else flat).tolist()}


def decode_tensor(value: Value) -> torch.Tensor:
    """The tensor that :func:`encode` described; raises if the data does not describe one."""
    dtype = getattr(torch, value["tensor"])
    if dtype.is_complex:
        parts = torch.tensor(value["data"], dtype=torch.float32 if dtype == torch.complex64 else torch.float64)
        return torch.view_as_complex(parts.reshape(*value["shape"], 2))
    return torch.tensor(value["data"], dtype=dtype).reshape(value["shape"])


def is_value(value: Any) -> bool:
    """Whether untrusted data has the form that :func:`encode` gives, so that comparing it cannot fail."""
    match value:
        case None | bool() | int() | str():
            return True
        case {"tensor": str(dtype), "shape": list(shape), "data": data}:
            return _is_tensor(dtype, shape, data)
        case {"float": str(text)}:
            return _is_float(text)
        case {"complex": [str(real), str(imag)]}:
            return _is_float(real) and _is_float(imag)
        case list() | {"tuple": list()} | {"set": list()}:
            items = value if isinstance(value, list) else next(iter(value.values()))
            return all(is_value(item) for item in items)
        case {"dict": list(pairs)}:
            return all(isinstance(pair, list) and len(pair) == 2 and all(map(is_value, pair)) for pair in pairs)
        case {"node": str()} | {"torch": str()} | {"function": str()} | {"opaque": str()}:
            return True
        case _:
            return False


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_tensor(dtype: str, shape: list[Any], data: Any) -> bool:
    known = getattr(torch, dtype, None)
    if not isinstance(known, torch.dtype) or not all(type(size) is int and size >= 0 for size in shape):
        return False
    if data is None:
        return True
    elements = math.prod(shape)
    if not isinstance(data, list) or len(data) != elements or elements > _MOST_ELEMENTS:
        return False
    if known.is_complex:
        return all(isinstance(part, list) and [type(half) for half in part] == [float, float] for part in data)
    if known.is_floating_point:
        return all(type(number) is float for number in data)
    return all(type(number) in (int, bool) and -(2**63) <= number < 2**63 for number in data)


def difference(found: Value, expected: Value, what: str = "it") -> str | None:
    """How a value differs from the expected one, as part of a sentence, or ``None``; shapes come before numbers.

    A list equals a tuple of the same items. For numbers, the text names the first number that differs, its position,
    the expected number, and how many numbers differ. The part before the colon does not depend on the seed; see
    :func:`without_numbers`.
    """
    kinds = _kind(found), _kind(expected)
    if kinds[0] != kinds[1]:
        return f"{what} is {kinds[0]}, not {kinds[1]}"
    if kinds[1] == "a tensor":
        return _tensor_difference(found, expected, what)
    if kinds[1] == "a sequence":
        ours, theirs = _items(expected), _items(found)
        if len(ours) != len(theirs):
            return f"{what} has length {len(theirs)}, not {len(ours)}"
        pairs = enumerate(zip(theirs, ours, strict=True))
        return next((said for i, (a, b) in pairs if (said := difference(a, b, _item(i, what)))), None)
    if kinds[1] == "a dict":
        return _dict_difference(dict_items(found), dict_items(expected), what)
    if kinds[1] == "a number":
        a, b = _number(found), _number(expected)
        same = a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)
        return None if same else f"{what} is a different number: {_both(a, b)}"
    if found != expected:
        return f"{what} is {found!r}" if isinstance(found, str | bool) else f"{what} is a different value"
    return None


def _item(key: int | str, what: str) -> str:
    return f"its item {key}" if what == "it" else f"item {key} of {what}"


def without_numbers(differs: str) -> str:
    """The part of :func:`difference` that does not depend on the seed."""
    return differs.partition(": ")[0]


def dict_items(value: Value) -> dict[str, Value]:
    return {repr(key): item for key, item in value["dict"]}


def _dict_difference(found: dict[str, Value], expected: dict[str, Value], what: str) -> str | None:
    extra = next((key for key in found if key not in expected), None)
    if extra is not None:
        return f"{what} has the key {extra}, which the task does not ask for"
    if len(found) != len(expected):
        return f"{what} has {len(found)} keys, not {len(expected)}"
    return next((said for key in expected if (said := difference(found[key], expected[key], _item(key, what)))), None)


def _tensor_difference(found: Value, expected: Value, what: str) -> str | None:
    if found["shape"] != expected["shape"]:
        return f"{what} has shape {tuple(found['shape'])}, not {tuple(expected['shape'])}"
    if found["tensor"] != expected["tensor"]:
        return f"{what} has dtype {found['tensor']}, not {expected['tensor']}"
    if found["data"] is None or expected["data"] is None:
        return None if found["data"] == expected["data"] else f"{what} holds data that cannot be read"
    a, b = decode_tensor(found), decode_tensor(expected)
    if not (a.is_floating_point() or a.is_complex()):
        return None if torch.equal(a, b) else f"{what} holds different values: {_first(a, b, a != b)}"
    if bool(a.isnan().any()) and not bool(b.isnan().any()):
        return f"{what} holds nan{_at(a.isnan())}: {int(a.isnan().sum())} of {a.numel()} elements"
    tolerance = _TOLERANCE.get(a.dtype, 1e-4)
    finite = b[b.isfinite()].abs()
    scale = max(1.0, float(finite.max())) if finite.numel() else 1.0
    close = torch.isclose(a, b, rtol=tolerance, atol=tolerance / 10 * scale, equal_nan=True)
    return None if bool(close.all()) else f"{what} holds different numbers: {_first(a, b, ~close)}"


def _first(found: torch.Tensor, expected: torch.Tensor, differs: torch.Tensor) -> str:
    """The first element that differs, the expected one, its position, and how many elements differ."""
    place = tuple(differs.nonzero()[0].tolist())
    count = f"; {int(differs.sum())} of {differs.numel()} elements differ" if differs.numel() > 1 else ""
    return f"{_both(found[place].item(), expected[place].item(), _at(differs))}{count}"


def _at(differs: torch.Tensor) -> str:
    return f" at {differs.nonzero()[0].tolist()}" if differs.dim() else ""


def _both(found: Any, expected: Any, at: str = "") -> str:
    texts = [str(found), str(expected)]
    if not isinstance(found, bool | int):
        digits = (4, 6, 9, 17)
        short = ([f"{number:.{count}g}" for number in (found, expected)] for count in digits)
        texts = next(([a, b] for a, b in short if a != b), texts)
    return f"{texts[0]}{at} instead of {texts[1]}"


def _kind(value: Value) -> str:
    match value:
        case None:
            return "None"
        case bool():
            return "a bool"
        case int() | {"float": _}:
            return "a number"
        case str():
            return "a str"
        case list() | {"tuple": _}:
            return "a sequence"
        case {"tensor": _}:
            return "a tensor"
        case {"dict": _}:
            return "a dict"
        case {"set": _}:
            return "a set"
        case {"node": _}:
            return "a node"
        case {"complex": _}:
            return "a complex number"
        case {"torch": _} | {"function": _}:
            return "a torch object" if "torch" in value else "a function"
        case {"opaque": str(name)}:
            return f"of class {name}" if not name.startswith("a ") else name
        case _:
            return "unreadable"


def _items(value: Value) -> list[Value]:
    return value if isinstance(value, list) else value["tuple"]


def _number(value: Value) -> float:
    return float(value["float"]) if isinstance(value, dict) else value


def kind_of(value: Value) -> str:
    match value:
        case None:
            return "None"
        case str():
            return "a string"
        case int() | {"float": _}:
            return "a number"
        case {"tensor": _}:
            return "a tensor"
        case {"node": _}:
            return "a node"
        case {"function": str(name)}:
            return f"the function {name}"
        case {"opaque": str(name)}:
            return f"an object of class {name}"
        case _:
            return "something else"
