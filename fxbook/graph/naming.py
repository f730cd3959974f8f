"""Readable names for what a node calls: ``torch.relu`` rather than ``<built-in method relu of type object at 0x…>``."""

from __future__ import annotations

import builtins
import functools
import re
from typing import Any

import torch
from torch import fx

# A function knows the module it was written in, not its public one; these are searched first, in this order.
_PUBLIC = (
    ("torch", torch),
    ("torch.nn.functional", torch.nn.functional),
    ("torch.special", torch.special),
    ("torch.linalg", torch.linalg),
    ("torch.fft", torch.fft),
)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")


def without_addresses(text: str) -> str:
    """Remove memory addresses, so that the text is the same in every run."""
    return _ADDRESS.sub("0x…", text)


def target_name(node: fx.Node) -> str:
    """What the node calls or fetches, in readable form: ``torch.relu``, ``operator.add``, ``layers.0``."""
    return node.target if isinstance(node.target, str) else callable_name(node.target)


def callable_name(function: Any) -> str:
    """The importable dotted name of a function, or its own name if it has none."""
    if isinstance(function, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        return f"torch.ops.{function}"
    name = getattr(function, "__name__", None)
    if name is None:
        return constant_text(function)
    for prefix, namespace in _PUBLIC:
        if getattr(namespace, name, None) is function:
            return f"{prefix}.{name}"
    if id(function) in _renamed():
        return _renamed()[id(function)]
    if getattr(torch.Tensor, name, None) is function:
        return f"torch.Tensor.{name}"
    module = {"_operator": "operator"}.get(getattr(function, "__module__", None), getattr(function, "__module__", None))
    qualified = getattr(function, "__qualname__", name).rpartition("<locals>.")[2]
    # A function of the notebook must not pass for one of Python's.
    is_short = module in (None, "builtins") or (module == "__main__" and not hasattr(builtins, qualified))
    return qualified if is_short else f"{module}.{qualified}"


@functools.cache
def _renamed() -> dict[int, str]:
    """By ``id``, the public names of functions whose ``__name__`` differs, such as ``special.expit``."""
    return {
        id(value): f"{prefix}.{name}"
        for prefix, namespace in reversed(_PUBLIC)
        for name, value in sorted(vars(namespace).items(), reverse=True)
        if callable(value) and not isinstance(value, type) and not name.startswith("_")
        if getattr(value, "__name__", name) != name
    }


def module_kind(found: Any) -> str:
    """The class of a module, parameter or buffer: ``torch.nn.Linear``, ``torch.nn.Parameter``, ``Attention``."""
    cls = type(found)
    for prefix, namespace in (("torch.nn", torch.nn), ("torch", torch)):
        if getattr(namespace, cls.__name__, None) is cls:
            return f"{prefix}.{cls.__name__}"
    return cls.__qualname__.rpartition("<locals>.")[2]


def call_text(node: fx.Node) -> str:
    """The node as one line of Python without its name: ``torch.add(x, 1)``, ``x.relu()``, ``self.linear(x)``."""
    arguments = [argument_text(value) for value in node.args]
    named = [f"{key}={argument_text(value)}" for key, value in node.kwargs.items()]
    match node.op:
        case "placeholder":
            return f"{node.target}={arguments[0]}" if arguments else str(node.target)
        case "get_attr":
            return f"self.{node.target}"
        case "output":
            return f"return {', '.join(arguments)}"
        case "call_method":
            receiver, *rest = arguments or ["?"]
            return f"{receiver}.{node.target}({', '.join(rest + named)})"
        case "call_module":
            return f"self.{node.target}({', '.join(arguments + named)})"
        case _:
            return f"{target_name(node)}({', '.join(arguments + named)})"


def argument_text(value: Any) -> str:
    match value:
        case fx.Node():
            return value.name
        case torch.Tensor():
            return f"<tensor {str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}>"
        case tuple():
            return f"({', '.join(map(argument_text, value))}{',' if len(value) == 1 else ''})"
        case list():
            return f"[{', '.join(map(argument_text, value))}]"
        case dict():
            return "{" + ", ".join(f"{key!r}: {argument_text(item)}" for key, item in value.items()) + "}"
        case slice():
            parts = [value.start, value.stop] if value.step is None else [value.start, value.stop, value.step]
            return ":".join("" if part is None else argument_text(part) for part in parts)
        case torch.dtype() | torch.device() | None | bool() | int() | float() | str():
            return str(value) if isinstance(value, torch.dtype | torch.device) else repr(value)
        case _ if callable(value):
            return callable_name(value)
        case _:
            return constant_text(value)[:40]


def constant_text(value: Any) -> str:
    """The ``repr`` of any object, without addresses; its class if ``repr`` raises."""
    try:
        return without_addresses(repr(value))
    except Exception as error:
        return f"<{type(value).__name__}: its repr raises {type(error).__name__}>"
