"""Which names of torch.fx a cell uses: read from its syntax tree; nothing is run, and no value followed.

A name with dots counts where it leads to one of torch.fx, by the imports of the notebook. An attribute counts as that
of a class

- where what it is taken from is known: ``self`` and ``super()`` in a subclass, a call of a class, a variable that such
  a call was given to, or a variable that has the name of a class in lower case, ``node``;
- anywhere else, for a class that its notebook names. Nodes, graphs and GraphModules come with every trace and need no
  name. An attribute that lists, texts, tensors and the like have too does not count there by itself: the section has to
  speak of it.
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

# Of an attribute that several have, the first is meant; `graph` is asked of modules more often than of nodes.
_COMES_WITH_A_TRACE = ("GraphModule", "Graph", "Node")
_IS_NAMED = ("Tracer", "Interpreter", "Transformer", "Proxy")
_MEANT = {"meta": "Node"}
_COMMON = (list, dict, str, torch.Tensor, Path, Exception)


class Use(NamedTuple):
    """A name that a cell uses; ``sure`` unless its attribute may be that of something else altogether."""

    full: str
    sure: bool = True


@functools.cache
def _members() -> dict[str, dict[str, str]]:
    """Of each class by its name, what it has, inherited names too: last part to full name."""
    own: dict[str, dict[str, str]] = collections.defaultdict(dict)
    for name in names():
        if name.owner:
            own[name.owner.__name__][name.last] = name.full
    bases = {cls: [base.__name__ for base in reversed(getattr(fx, cls).__mro__) if base.__name__ in own] for cls in own}
    return {cls: {last: full for base in bases[cls] for last, full in own[base].items()} for cls in own}


@functools.cache
def _things() -> dict[str, str]:
    """The full names by every path that leads to them: members by way of a subclass too."""
    inherited = {f"torch.fx.{cls}.{last}": full for cls, own in _members().items() for last, full in own.items()}
    return inherited | {name.full: name.full for name in names()}


class CodeOfNotebook:
    """The code of one notebook, and what is told of its names by imports, classes and assignments anywhere in it."""

    def __init__(self, sources: Iterable[str]) -> None:
        self._cells = [ast.parse(source) for source in sources]
        self._paths: dict[str, str] = {}
        # The class of torch.fx that a class of the notebook is of, "" for none, and that a variable was made by.
        self._classes: dict[str, str] = {cls: cls for cls in _members()}
        self._known: dict[str, set[str]] = collections.defaultdict(set)
        nodes = [node for cell in self._cells for node in ast.walk(cell)]
        for node in nodes:
            self._learn(node)
        words = {node.name if isinstance(node, ast.alias) else _last(node) for node in nodes}
        traces = any(f"{path}.".startswith("torch.fx.") for path in self._paths.values())
        self._named = [*(_COMES_WITH_A_TRACE if traces else ()), *(cls for cls in _IS_NAMED if cls in words)]

    def uses(self, cell: int) -> set[Use]:
        """What a cell uses, by its place among the code cells from 0."""
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
                # A function of torch may give anything, and so may a copy; one of another library gives none of these.
                others = self._path(called).partition(".")[0] not in ("", "torch", "copy")
                made = self._classes.get(_last(called), "" if others else None)
                self._known[name] |= set() if made is None else {made}

    def _uses(self, node: ast.AST, inside: str) -> Iterator[Use]:
        """What a node of the syntax tree and all below it use; ``inside`` is the class that is subclassed there."""
        found: list[str | None] = []
        match node:
            case ast.Name() | ast.Attribute() if path := self._path(node):
                found = [_things().get(path)]
            case ast.Attribute():
                yield from self._attribute(node, inside)
            case ast.ImportFrom():
                found = [_things().get(f"{node.module}.{alias.name}") for alias in node.names]
            case ast.Call(func=called, keywords=keywords):
                # To hand it to the constructor is to set it: `Interpreter(traced, garbage_collect_values=False)`.
                members = _members().get(self._classes.get(_last(called), ""), {})
                found = [members.get(word.arg or "") for word in keywords]
            case ast.ClassDef(name=name, body=body):
                # To override is to use.
                inside = self._classes[name]
                members = _members().get(inside, {})
                found = [members.get(word) for word in _defined(body)]
        yield from map(Use, filter(None, found))
        for part in ast.iter_child_nodes(node):
            yield from self._uses(part, inside)

    def _attribute(self, node: ast.Attribute, inside: str) -> Iterator[Use]:
        holder = self._holder(node.value, inside)
        # Without a holder, the classes that it may be of, the likeliest first.
        meant = sorted(self._named, key=lambda cls: cls != _MEANT.get(node.attr))
        for cls in meant if holder is None else [holder]:
            if full := _members().get(cls, {}).get(node.attr):
                yield Use(full, holder is not None or not any(hasattr(common, node.attr) for common in _COMMON))
                return

    def _holder(self, value: ast.expr, inside: str) -> str | None:
        """The class of torch.fx that a value is of, as far as it is written; ``""`` of another class."""
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
        """Where a name with dots leads, ``"torch.fx.Graph"``; nothing where it does not begin with an import."""
        match node:
            case ast.Name(id=name):
                return self._paths.get(name, "")
            case ast.Attribute(value=value, attr=name):
                return f"{path}.{name}" if (path := self._path(value)) else ""
        return ""


def _last(node: ast.AST) -> str:
    """The last part of a name with dots."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _defined(body: Iterable[ast.stmt]) -> Iterator[str]:
    """The names that the body of a class gives something to."""
    for part in body:
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            yield part.name
        elif isinstance(part, ast.Assign):
            yield from map(_last, part.targets)
