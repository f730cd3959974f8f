"""Read what a ``compute`` answer returned as names, numbers, or collections of them; ``None`` for anything else."""

from __future__ import annotations

from fxbook.cases.values import Value


def name_of(value: Value) -> str | None:
    """An encoded text; ``None`` for anything else, a node too, since a node is not its name."""
    return value if isinstance(value, str) else None


def node_in(value: Value) -> str | None:
    """The name of the first node anywhere in an encoded value."""
    match value:
        case {"node": str(name)}:
            return name
        case dict():
            value = list(value.values())
    if not isinstance(value, list):
        return None
    return next((name for item in value if (name := node_in(item)) is not None), None)


def instead_of(expected: str, value: Value) -> str:
    """The report on an answer that is not, say, ``"a list of names"``, maybe because it holds nodes, not names."""
    node = node_in(value)
    wrong = f"is not {expected}" if node is None else f"contains the node `{node}` itself, not its name"
    return f"The answer {wrong}."


def list_of_names(value: Value) -> list[str] | None:
    """An encoded list or tuple of names, as a list."""
    match value:
        case list(items) | {"tuple": list(items)}:
            names = [name for item in items if (name := name_of(item)) is not None]
            return names if len(names) == len(items) else None
    return None


def names_of(value: Value) -> set[str] | None:
    """An encoded set, list or tuple of names, as a set."""
    match value:
        case {"set": list(items)}:
            value = items
    names = list_of_names(value)
    return None if names is None else set(names)


def repeated_name(value: Value) -> str | None:
    """The first name that an encoded list or tuple of names or nodes has more than once."""
    names = list_of_names(value) or []
    return next((name for name in names if names.count(name) > 1), None)


def bool_of(value: Value) -> bool | None:
    """An encoded bool, or the bool in a zero-dimensional tensor, such as ``(a != b).any()``."""
    match value:
        case bool() | {"tensor": "bool", "shape": [], "data": [bool()]}:
            return value if isinstance(value, bool) else value["data"][0]
    return None


def number_of(value: Value) -> float | None:
    """An encoded number, or a zero-dimensional tensor, as a float."""
    match value:
        case bool():
            return None
        case int():
            return float(value)
        case {"float": str(text)}:
            return float(text)
        case {"tensor": _, "shape": [], "data": [int() | float() as element]}:
            return float(element)
    return None


def numbers_of(value: Value) -> list[float] | None:
    """An encoded list, tuple or vector of numbers, as floats."""
    match value:
        case list(items) | {"tuple": list(items)}:
            numbers = [number for item in items if (number := number_of(item)) is not None]
            return numbers if len(numbers) == len(items) else None
        case {"tensor": _, "shape": [_], "data": list(elements)}:
            return [float(element) for element in elements]
    return None


def entry(value: Value, key: str) -> Value:
    """The item under this key in an encoded dict whose keys are names, or ``None``."""
    return (table_of(value) or {}).get(key)


def table_of(value: Value) -> dict[str, Value] | None:
    """An encoded dict whose keys are names."""
    match value:
        case {"dict": list(pairs)}:
            named = {name: item for key, item in pairs if (name := name_of(key)) is not None}
            return named if all(name_of(key) is not None for key, _ in pairs) else None
    return None
