"""Find the torch.fx names that a cell uses, from its syntax tree, without running it or following values.

A dotted name counts if the imports of the notebook resolve it to torch.fx. An attribute counts as a member of a class

- if the class of its object is known: ``self`` and ``super()`` in a subclass, a call to a class, a variable assigned
  from such a call, or a variable with the lower-case name of a class, such as ``node``;
- otherwise, if the notebook names the class. Nodes, graphs and GraphModules come with every trace and need not be
  named. An attribute that lists, strings, tensors and the like also have counts only if the section's text names it.
"""

from __future__ import annotations

import ast
import collections
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from torch import fx

from press.pages.api.documented import names

# If several classes have an attribute, the first counts; `graph` is used on modules more often than on nodes.
_COMES_WITH_A_TRACE = ("GraphModule", "Graph", "Node")
_IS_NAMED = ("Tracer", "Interpreter", "Transformer", "Proxy")
_MEANT = {"meta": "Node"}
_COMMON = (list, dict, str, torch.Tensor, Path, Exception)


class Use(NamedTuple):
    """A name that a cell uses; ``sure`` unless the attribute may belong to another type."""

    full: str
    sure: bool = True


@functools.cache
def _members() -> dict[str, dict[str, str]]:
    """The members of each class, by class name, inherited ones included: from last part to full name."""
    own: dict[str, dict[str, str]] = collections.defaultdict(dict)
    for name in names():
        if name.owner:
            own[name.owner.__name__][name.last] = name.full
    bases = {cls: [base.__name__ for base in reversed(getattr(fx, cls).__mro__) if base.__name__ in own] for cls in own}
    return {cls: {last: full for base in bases[cls] for last, full in own[base].items()} for cls in own}


@functools.cache
def _things() -> dict[str, str]:
    """The full names, by every path that leads to them, also through a subclass."""
    inherited = {f"torch.fx.{cls}.{last}": full for cls, own in _members().items() for last, full in own.items()}
    return inherited | {name.full: name.full for name in names()}


class CodeOfNotebook:
    """The code of one notebook, and what its imports, classes and assignments say about names."""

    def __init__(self, sources: Iterable[str]) -> None:
        self._cells = [ast.parse(source) for source in sources]
        self._paths: dict[str, str] = {}
        # The class of torch.fx that a class of the notebook derives from ("" for none), or that a variable is an
        # instance of.
        self._classes: dict[str, str] = {cls: cls for cls in _members()}
        self._known: dict[str, set[str]] = collections.defaultdict(set)
        nodes = [node for cell in self._cells for node in ast.walk(cell)]
        for node in nodes:
            self._learn(node)
        words = {node.name if isinstance(node, ast.alias) else _last(node) for node in nodes}
        traces = any(f"{path}.".startswith("torch.fx.") for path in self._paths.values())
        self._named = [*(_COMES_WITH_A_TRACE if traces else ()), *(cls for cls in _IS_NAMED if cls in words)]

    def uses(self, cell: int) -> set[Use]:
        """The names that a cell uses; ``cell`` is its index among the code cells."""
        return set(self._uses(self._cells[cell], ""))

    def _learn(self, node: ast.AST) -> None:
        match node:
            case ast.Import():
                for alias in node.names:
                    top = alias.name.partition(".")[0]
                    self._paths[alias.asname or top] = alias.name if alias.asname else top
            case ast.ImportFrom():
                self._paths |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            case ast.ClassDef(name=name, bases=bases):
                self._classes[name] = next(filter(None, (self._classes.get(_last(base)) for base in bases)), "")
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=called)):
                # A function of torch may return anything, and so may a copy; functions of other libraries return none
                # of these.
                others = self._path(called).partition(".")[0] not in ("", "torch", "copy")
                made = self._classes.get(_last(called), "" if others else None)
                self._known[name] |= set() if made is None else {made}

    def _uses(self, node: ast.AST, inside: str) -> Iterator[Use]:
        """The names that a syntax node and its children use; ``inside`` is the enclosing subclass's base."""
        found: list[str | None] = []
        match node:
            case ast.Name() | ast.Attribute() if path := self._path(node):
                found = [_things().get(path)]
            case ast.Attribute():
                yield from self._attribute(node, inside)
            case ast.ImportFrom():
                found = [_things().get(f"{node.module}.{alias.name}") for alias in node.names]
            case ast.Call(func=called, keywords=keywords):
                # A constructor's keyword sets an attribute: `Interpreter(traced, garbage_collect_values=False)`.
                members = _members().get(self._classes.get(_last(called), ""), {})
                found = [members.get(word.arg or "") for word in keywords]
            case ast.ClassDef(name=name, body=body):
                # Overriding counts as a use.
                inside = self._classes[name]
                members = _members().get(inside, {})
                found = [members.get(word) for word in _defined(body)]
        yield from map(Use, filter(None, found))
        for part in ast.iter_child_nodes(node):
            yield from self._uses(part, inside)

    def _attribute(self, node: ast.Attribute, inside: str) -> Iterator[Use]:
        holder = self._holder(node.value, inside)
        # If the holder is unknown, all candidate classes count, the likeliest first.
        meant = sorted(self._named, key=lambda cls: cls != _MEANT.get(node.attr))
        for cls in meant if holder is None else [holder]:
            if full := _members().get(cls, {}).get(node.attr):
                yield Use(full, holder is not None or not any(hasattr(common, node.attr) for common in _COMMON))
                return

    def _holder(self, value: ast.expr, inside: str) -> str | None:
        """The torch.fx class of a value, as far as the code shows it; ``""`` for any other class."""
        word = _last(value.func) if isinstance(value, ast.Call) else _last(value)
        if word in ("self", "super"):
            return inside
        if word in self._classes:
            return self._classes[word]
        if not isinstance(value, ast.Name):
            return None
        if len(self._known[word]) == 1:
            return next(iter(self._known[word]))
        return next((cls for cls in _members() if cls.lower() == word), None)

    def _path(self, node: ast.AST) -> str:
        """The full path of a dotted name, ``"torch.fx.Graph"``; ``""`` if it does not begin with an import."""
        match node:
            case ast.Name(id=name):
                return self._paths.get(name, "")
            case ast.Attribute(value=value, attr=name):
                return f"{path}.{name}" if (path := self._path(value)) else ""
        return ""


def _last(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _defined(body: Iterable[ast.stmt]) -> Iterator[str]:
    for part in body:
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            yield part.name
        elif isinstance(part, ast.Assign):
            yield from map(_last, part.targets)
