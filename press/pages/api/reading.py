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
import dataclasses
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch
from torch import fx

from press.pages.api.documented import names

# Of an attribute that several have, the first is meant; `graph` is asked of modules more often than of nodes.
_COMES_WITH_A_TRACE = ("GraphModule", "Graph", "Node")
_IS_NAMED = ("Tracer", "Interpreter", "Transformer", "Proxy")
_MEANT = {"meta": "Node"}
_COMMON = (list, dict, str, torch.Tensor, Path, Exception)
_GIVES_A_MODULE = "torch.fx.symbolic_trace"
_OTHER = "another class"


@dataclasses.dataclass(frozen=True)
class Use:
    """A name that a cell uses; ``sure`` unless its attribute may be that of something else altogether."""

    full: str
    sure: bool = True


@functools.cache
def _members() -> dict[str, dict[str, str]]:
    """Of each class by its name, what it has, inherited names too: last part to full name."""
    members: dict[str, dict[str, str]] = collections.defaultdict(dict)
    for name in names():
        if name.owner:
            members[name.owner.__name__][name.last] = name.full
    inherited: dict[str, dict[str, str]] = {}
    for cls in members:
        bases = [base.__name__ for base in reversed(getattr(fx, cls).__mro__) if base.__name__ in members]
        inherited[cls] = {last: full for base in bases for last, full in members[base].items()}
    return inherited


class CodeOfNotebook:
    """The code of one notebook, and what is told of its names by imports, classes and assignments anywhere in it."""

    def __init__(self, sources: Iterable[str]) -> None:
        self._cells = [ast.parse(source) for source in sources]
        self._paths: dict[str, str] = {}
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
                known = (self._classes[_last(base)] for base in bases if _last(base) in self._classes)
                self._classes[name] = next(known, _OTHER)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=called)):
                self._known[name] |= {self._made_by(called)} - {""}
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (path := self._path(value)) in _things():
                self._paths[name] = path

    def _made_by(self, called: ast.expr) -> str:
        """The class of what a call gives, as far as the name of what is called says it."""
        path = self._path(called)
        if path == _GIVES_A_MODULE:
            return "GraphModule"
        if cls := self._classes.get(_last(called)):
            return cls
        # A function of torch itself makes tensors; what is in its modules, or copied, may be anything.
        parts = path.split(".")
        return _OTHER if path and (parts[0] not in ("torch", "copy") or parts[:-1] == ["torch"]) else ""

    def _uses(self, node: ast.AST, inside: str) -> Iterator[Use]:
        """What a node of the syntax tree and all below it use; ``inside`` is the class that is subclassed there."""
        match node:
            case ast.Name() | ast.Attribute() if path := self._path(node):
                if path in _things():
                    yield Use(_things()[path])
            case ast.Attribute():
                yield from self._attribute(node, inside)
            case ast.ImportFrom():
                paths = (f"{node.module}.{alias.name}" for alias in node.names)
                yield from (Use(_things()[path]) for path in paths if path in _things())
            case ast.Call(func=called, keywords=keywords):
                # To hand it to the constructor is to set it: `Interpreter(traced, garbage_collect_values=False)`.
                members = _members().get(self._classes.get(_last(called), ""), {})
                yield from (Use(members[word.arg]) for word in keywords if word.arg in members)
            case ast.ClassDef(name=name, body=body):
                # To override is to use.
                inside = self._classes[name]
                members = _members().get(inside, {})
                yield from (Use(members[word]) for word in _defined(body) if word in members)
        for part in ast.iter_child_nodes(node):
            yield from self._uses(part, inside)

    def _attribute(self, node: ast.Attribute, inside: str) -> Iterator[Use]:
        if holder := self._holder(node.value, inside):
            if node.attr in _members().get(holder, {}):
                yield Use(_members()[holder][node.attr])
            return
        if cls := next((cls for cls in self._meant(node.attr) if node.attr in _members()[cls]), ""):
            yield Use(_members()[cls][node.attr], not any(hasattr(common, node.attr) for common in _COMMON))

    def _meant(self, attribute: str) -> list[str]:
        """The classes that an attribute may be of, the likeliest first."""
        first = _MEANT.get(attribute, "")
        return sorted(self._named, key=lambda cls: cls != first)

    def _holder(self, value: ast.expr, inside: str) -> str:
        """The class of torch.fx that a value is of, as far as it is written, or ``_OTHER`` of one beyond these."""
        word = _last(value.func) if isinstance(value, ast.Call) else _last(value)
        if word in ("self", "super"):
            return inside or _OTHER
        if word in self._classes:
            return self._classes[word]
        if isinstance(value, ast.Name) and len(self._known[word]) == 1:
            return next(iter(self._known[word]))
        return next((cls for cls in _members() if cls.lower() == word and isinstance(value, ast.Name)), "")

    def _path(self, node: ast.AST) -> str:
        """Where a name with dots leads, ``"torch.fx.Graph"``; nothing where it does not begin with an import."""
        match node:
            case ast.Name(id=name):
                return self._paths.get(name, "")
            case ast.Attribute(value=value, attr=name):
                return f"{path}.{name}" if (path := self._path(value)) else ""
        return ""


@functools.cache
def _things() -> dict[str, str]:
    """The full names by every path that leads to them: members by way of a subclass too."""
    inherited = {
        f"torch.fx.{cls}.{last}": full for cls, members in _members().items() for last, full in members.items()
    }
    return inherited | {name.full: name.full for name in names()}


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
