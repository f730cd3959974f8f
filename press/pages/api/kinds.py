"""Kinds: what is known of a value without running anything, taken from the annotations that torch has.

A kind is one of the classes below, or ``None`` where nothing is known.
"""

from __future__ import annotations

import ast
import collections.abc
import dataclasses
import functools
import inspect
import sys
import types
import typing
from typing import Any

import torch
from torch import fx


@dataclasses.dataclass(frozen=True)
class Thing:
    """A module, class or function of torch or of Python itself."""

    object: Any


@dataclasses.dataclass(frozen=True)
class Instance:
    """An object of a class; the stand-in for a class of a notebook holds its members in ``written``."""

    of: type


@dataclasses.dataclass(frozen=True, eq=False)
class Written:
    """A function of a notebook: its code, the names around it, its cell, and the class it belongs to."""

    code: Function
    scope: collections.ChainMap[str, Kind]
    cell: int
    owner: type | None = None


@dataclasses.dataclass(frozen=True)
class Bound:
    """A function found on an object of the kind ``holder``; of a container, the name of a method."""

    function: Any
    holder: Kind


@dataclasses.dataclass(frozen=True)
class Many:
    """A list, set, iterator or the like of elements of one kind."""

    element: Kind


@dataclasses.dataclass(frozen=True)
class Row:
    """A tuple whose elements differ in kind."""

    elements: tuple[Kind, ...]


@dataclasses.dataclass(frozen=True)
class Map:
    """A dictionary."""

    key: Kind
    value: Kind


@dataclasses.dataclass(frozen=True)
class Maker:
    """Something to call, of which only what it returns is known."""

    made: Kind


class Argument:
    """What stands among the arguments of a node: a node, a plain value, or a container of these."""


Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Kind = Thing | Instance | Written | Bound | Many | Row | Map | Maker | None
NODE, PROXY, ARGUMENT = Instance(fx.Node), Instance(fx.Proxy), Instance(Argument)
# An attribute that one of these has does not tell a node.
_PLAIN = (list, tuple, dict, slice, str, float, torch.dtype, torch.Tensor)
# What torch leaves without an annotation, or annotates too loosely to be of use.
_MEMBERS = {
    (fx.Graph, "nodes"): Many(NODE),
    (fx.Interpreter, "env"): Map(NODE, None),
    (fx.Interpreter, "graph"): Instance(fx.Graph),
    (fx.Interpreter, "module"): Instance(fx.GraphModule),
    (fx.Proxy, "node"): NODE,
}
_RETURNED = {fx.Graph.find_nodes: Many(NODE), fx.Graph.output: NODE}


def member(cls: type, name: str) -> Kind:
    """The kind of an attribute of the objects of a class."""
    for base in cls.__mro__:
        own = vars(base)
        if known := _MEMBERS.get((base, name)) or own.get("written", {}).get(name):
            return Bound(known, Instance(cls)) if isinstance(known, Written) else known
        found = own.get(name)
        if isinstance(found, property):
            return returned(found.fget)
        if inspect.isfunction(found):
            return Bound(found, Instance(cls))
        if found is None and name in (noted := inspect.get_annotations(base)):
            return _of_annotation(noted[name], vars(sys.modules[base.__module__]))
    return None


@functools.cache
def returned(function: Any) -> Kind:
    """The kind that a function of torch returns."""
    return _RETURNED.get(function) or _hints(function).get("return")


def overridden(cls: type, name: str) -> list[Kind]:
    """The kinds of the parameters, ``self`` left out, of the function of torch that a function of ``cls`` overrides."""
    functions = [found for base in cls.__mro__ if inspect.isfunction(found := vars(base).get(name))]
    hints = _hints(functions[0]) if functions else {}
    return [hints.get(one) for one in list(inspect.signature(functions[0]).parameters)[1:]] if functions else []


def _hints(function: Any) -> dict[str, Kind]:
    namespace = getattr(inspect.unwrap(function), "__globals__", {})
    return {name: _of_annotation(hint, namespace) for name, hint in getattr(function, "__annotations__", {}).items()}


def _of_annotation(annotation: Any, namespace: dict[str, Any]) -> Kind:
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        try:
            # Some names are there for type checkers only.
            annotation = eval(annotation, {**vars(fx), **namespace})
        except (NameError, AttributeError, TypeError, SyntaxError):
            return None
    if annotation == fx.node.Argument:
        return ARGUMENT
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is None:
        return Instance(annotation) if isinstance(annotation, type) else None
    parts = [_of_annotation(argument, namespace) for argument in arguments if argument is not Ellipsis]
    if origin in (typing.Union, types.UnionType):
        return join(part for part in parts if part != Instance(type(None)))
    if origin is collections.abc.Callable:
        return Maker(parts[-1])
    if not isinstance(origin, type):
        return None
    if issubclass(origin, collections.abc.Mapping) and len(parts) == 2:
        return Map(*parts)
    if origin is tuple and Ellipsis not in arguments:
        return Row(tuple(parts))
    return Many(join(parts)) if issubclass(origin, collections.abc.Iterable) else None


def element(kind: Kind) -> Kind:
    """What a loop over a value yields."""
    match kind:
        case Many(inside) | Map(inside, _):
            return inside
        case Row(parts):
            return join(parts)
    return ARGUMENT if kind == ARGUMENT else None


def narrowed(kind: Kind, name: str) -> Kind:
    """What a value is, once its attribute ``name`` is used."""
    if kind == ARGUMENT:
        return None if any(hasattr(plain, name) for plain in _PLAIN) else NODE
    return kind


def of_container(holder: Kind, method: str) -> Kind:
    """What a method of a list, dictionary or the like returns."""
    if method == "copy":
        return holder
    if not isinstance(holder, Map):
        return element(holder) if method == "pop" else None
    lists = {"keys": holder.key, "values": holder.value, "items": Row((holder.key, holder.value))}
    return Many(lists[method]) if method in lists else holder.value


def join(kinds: collections.abc.Iterable[Kind]) -> Kind:
    """The first kind that is known."""
    return next((kind for kind in kinds if kind is not None), None)
