"""Read a notebook's code as a person would: follow its values from cell to cell and tell each name that it uses.

Nothing is run. A function is read when it is defined and once for each kind of arguments that it is called with; a
method of a subclass with the parameters of the method that it overrides. Both branches of an ``if`` are read; a loop
once.
"""

from __future__ import annotations

import ast
import builtins
import copy
import importlib
import types
from collections import ChainMap
from collections.abc import Callable
from typing import Any

from press.pages.api import kinds
from press.pages.api.kinds import PROXY, Bound, Function, Instance, Kind, Maker, Many, Map, Row, Thing, Written

# Slow to import, and torch has them in some processes and not in others: the index must not depend on it.
_UNSEEN = {"_dynamo", "_inductor"}
_GATHER = (list, tuple, set, frozenset, sorted, reversed, iter)
_CHOOSE = (next, max, min)
_SAME = (copy.copy, copy.deepcopy, dict)

Names = ChainMap[str, Kind]


def _module(path: str) -> Thing | None:
    parts = path.split(".")
    if parts[0] not in ("torch", "copy") or _UNSEEN.intersection(parts):
        return None
    try:
        return Thing(importlib.import_module(path))
    except ImportError:
        return None


class Reader:
    """Reads the cells of one notebook, in order."""

    def __init__(self, tell: Callable[[int, Any, str], None]) -> None:
        """``tell(cell, thing, "")`` hears of a use of a thing of torch, ``tell(cell, cls, name)`` of an attribute."""
        self._tell = tell
        self._names: Names = ChainMap({}, {name: Thing(thing) for name, thing in vars(builtins).items()})
        self._cell = 0
        self._read: dict[tuple[Any, ...], Kind] = {}

    def read(self, source: str, cell: int) -> None:
        """Read one cell."""
        self._cell = cell
        self._kind(ast.parse(source), self._names)

    def _kind(self, node: ast.AST | None, names: Names) -> Kind:
        """Read a statement or an expression, with all that is in it; the kind of its value."""
        match node:
            case ast.Name(id=name):
                return self._told(names.get(name))
            case ast.Attribute(value=value, attr=name):
                return self._attribute(self._kind(value, names), name)
            case ast.Call():
                return self._call(node, names)
            case ast.Import() | ast.ImportFrom():
                self._import(node, names)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                written = self._written(node, names)
                names[getattr(node, "name", "lambda")] = written
                self._enter(written, [], {})
                return written
            case ast.ClassDef():
                self._class(node, names)
            case ast.Return(value=value) | ast.Yield(value=value):
                found, word = self._kind(value, names), type(node).__name__
                # A word that no variable can have; the names around a function may hold another of it.
                names[word] = names.maps[0].get(word) or found
            case ast.Assign(targets=targets, value=value):
                found = self._kind(value, names)
                for target in targets:
                    self._assign(target, found, names)
            case ast.NamedExpr(target=target, value=value) | ast.AnnAssign(target=target, value=value):
                found = self._kind(value, names)
                self._assign(target, found, names)
                return found
            case ast.For(target=target, iter=values) | ast.comprehension(target=target, iter=values):
                self._assign(target, kinds.element(self._kind(values, names)), names)
                for part in [*getattr(node, "ifs", ()), *getattr(node, "body", ()), *getattr(node, "orelse", ())]:
                    self._kind(part, names)
            case ast.withitem(context_expr=value, optional_vars=target):
                found = self._kind(value, names)
                if target:
                    self._assign(target, found, names)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                inside = names.new_child()
                for part in node.generators:
                    self._kind(part, inside)
                if isinstance(node, ast.DictComp):
                    return Map(self._kind(node.key, inside), self._kind(node.value, inside))
                return Many(self._kind(node.elt, inside))
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                found = [self._kind(part, names) for part in parts]
                return Row(tuple(found)) if isinstance(node, ast.Tuple) else Many(kinds.join(found))
            case ast.Dict(keys=keys, values=values):
                found = [kinds.join([self._kind(part, names) for part in parts]) for parts in (keys, values)]
                return Map(*found)
            case ast.Subscript(value=value, slice=key):
                self._kind(key, names)
                return self._item(self._kind(value, names), key)
            case ast.Starred(value=value):
                return kinds.element(self._kind(value, names))
            case ast.IfExp() | ast.BoolOp() | ast.BinOp():
                return kinds.join([self._kind(part, names) for part in ast.iter_child_nodes(node)])
            case ast.AST():
                for part in ast.iter_child_nodes(node):
                    self._kind(part, names)
        return None

    def _written(self, node: Function, names: Names, owner: type | None = None) -> Written:
        for part in [*getattr(node, "decorator_list", ()), *node.args.defaults, *node.args.kw_defaults]:
            self._kind(part, names)
        return Written(node, names, self._cell, owner)

    def _told(self, kind: Kind) -> Kind:
        if isinstance(kind, Thing):
            self._tell(self._cell, kind.object, "")
        return kind

    def _import(self, node: ast.Import | ast.ImportFrom, names: Names) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                whole, top = _module(alias.name), alias.name.partition(".")[0]
                names[alias.asname or top] = whole if alias.asname or not whole else _module(top)
                continue
            path = node.module or ""
            whole = _module(path)
            found = whole and getattr(whole.object, alias.name, None)
            # A module inside need not be there before somebody imports it.
            names[alias.asname or alias.name] = self._told(Thing(found) if found else _module(f"{path}.{alias.name}"))

    def _class(self, node: ast.ClassDef, names: Names) -> None:
        """Make a stand-in for the class: a real one, so that Python says what it inherits from those of torch."""
        for part in [*node.keywords, *node.decorator_list]:
            self._kind(part, names)
        found = [self._kind(base, names) for base in node.bases]
        bases = [kind.object for kind in found if isinstance(kind, Thing) and isinstance(kind.object, type)]
        bases = [base for base in bases if base.__module__.startswith("torch") or "written" in vars(base)]
        written: dict[str, Kind] = {}
        cls = type(node.name, tuple(bases), {"written": written})
        names[node.name] = Thing(cls)
        inside = names.new_child()
        for part in node.body:
            if isinstance(part, ast.FunctionDef):
                written[part.name] = self._written(part, names, cls)
            else:
                self._kind(part, inside)
        written |= inside.maps[0]
        for name, kind in sorted(written.items(), key=lambda item: item[0] != "__init__"):
            # To override is to use.
            self._tell(self._cell, cls, name)
            if isinstance(kind, Written) and kind.owner:
                self._enter(kind, [Instance(cls), *kinds.overridden(cls, name)], {})

    def _assign(self, target: ast.expr, kind: Kind, names: Names) -> None:
        match target:
            case ast.Name(id=name):
                names[name] = kind
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for place, part in enumerate(parts):
                    exact = isinstance(kind, Row) and place < len(kind.elements)
                    self._assign(part, kind.elements[place] if exact else kinds.element(kind), names)
            case ast.Starred(value=value):
                self._assign(value, Many(kind), names)
            case ast.Attribute(value=value, attr=name):
                holder = self._kind(value, names)
                self._attribute(holder, name)
                if isinstance(holder, Instance) and "written" in vars(holder.of) and kind:
                    holder.of.written.setdefault(name, kind)
            case ast.Subscript(value=value, slice=key):
                holder, found = self._kind(value, names), self._kind(key, names)
                # An empty dictionary learns what it holds.
                if isinstance(value, ast.Name) and holder == Map(None, None):
                    names[value.id] = Map(found, kind)

    def _attribute(self, holder: Kind, name: str) -> Kind:
        match kinds.narrowed(holder, name):
            case Thing(types.ModuleType() as module):
                return self._told(Thing(vars(module)[name])) if name in vars(module).keys() - _UNSEEN else None
            case Thing(type() as cls):
                self._tell(self._cell, cls, name)
                found = kinds.member(cls, name)
                return Thing(found.function) if isinstance(found, Bound) else None
            case Instance(cls):
                self._tell(self._cell, cls, name)
                return kinds.member(cls, name)
            case Many() | Row() | Map():
                return Bound(name, holder)
        return None

    def _item(self, kind: Kind, key: ast.expr) -> Kind:
        if isinstance(key, ast.Slice):
            return Many(kinds.element(kind))
        if isinstance(kind, Row) and isinstance(key, ast.Constant) and key.value in range(len(kind.elements)):
            return kind.elements[key.value]
        return kind.value if isinstance(kind, Map) else kinds.element(kind)

    def _call(self, node: ast.Call, names: Names) -> Kind:
        called = self._kind(node.func, names)
        if isinstance(called, Thing) and isinstance(called.object, type):
            # To hand it to the constructor is to set it: `Interpreter(traced, garbage_collect_values=False)`.
            for keyword in node.keywords:
                self._tell(self._cell, called.object, keyword.arg or "")
        given = [self._kind(argument, names) for argument in node.args]
        named = {keyword.arg or "": self._kind(keyword.value, names) for keyword in node.keywords}
        match called:
            case Written():
                return self._enter(called, given, named)
            case Bound(Written() as written, holder):
                return self._enter(written, [holder, *given], named)
            case Bound(str() as method, holder):
                return kinds.of_container(holder, method)
            case Bound(function, _):
                return kinds.returned(function)
            case Maker(made):
                return made
            case Thing(thing) if thing is isinstance:
                known = given[0] not in (None, kinds.ARGUMENT)
                if not known and isinstance(node.args[0], ast.Name) and isinstance(given[1], Thing):
                    names[node.args[0].id] = Instance(given[1].object)
            case Thing(thing) if thing is super:
                local = names.get("class")
                return Instance(local.of.__mro__[1]) if isinstance(local, Instance) else None
            case Thing(thing):
                return self._of_thing(thing, given, named)
        return None

    def _of_thing(self, thing: Any, given: list[Kind], named: dict[str, Kind]) -> Kind:
        """What a class or function of torch or of Python itself returns."""
        first = given[0] if given else None
        if thing in (zip, enumerate):
            parts = [kinds.element(kind) for kind in given]
            return Many(Row(tuple(parts if thing is zip else [None, *parts])))
        if thing in _GATHER:
            return Many(kinds.element(first))
        if thing in _CHOOSE:
            return kinds.element(first)
        if thing in _SAME:
            return first
        if isinstance(thing, type):
            made = Instance(thing)
            initialise = kinds.member(thing, "__init__")
            if isinstance(initialise, Bound) and isinstance(initialise.function, Written):
                self._enter(initialise.function, [made, *given], named)
            return made
        return PROXY if PROXY in given else kinds.returned(thing) if callable(thing) else None

    def _enter(self, written: Written, given: list[Kind], named: dict[str, Kind]) -> Kind:
        """Read a function of the notebook with what it is given; the kind that it returns."""
        wanted = written.code.args
        arguments = {one.arg: one.annotation for one in [*wanted.posonlyargs, *wanted.args, *wanted.kwonlyargs]}
        noted = {name: self._kind(annotation, written.scope) for name, annotation in arguments.items()}
        bound = {name: Instance(kind.object) if isinstance(kind, Thing) else None for name, kind in noted.items()}
        told = [*zip(arguments, given, strict=False), *named.items()]
        bound |= {name: kind for name, kind in told if name in arguments and kind}
        key = (written, *bound.values())
        if key in self._read:
            return self._read[key]
        self._read[key] = None
        if wanted.vararg:
            bound[wanted.vararg.arg] = Many(kinds.join(given[len(wanted.args) :]))
        came_from, self._cell = self._cell, written.cell
        names = written.scope.new_child({**bound, "class": written.owner and Instance(written.owner)})
        body = written.code.body
        last = [self._kind(part, names) for part in (body if isinstance(body, list) else [body])][-1]
        self._cell = came_from
        inside = names.maps[0]
        back = Many(inside["Yield"]) if "Yield" in inside else inside.get("Return")
        self._read[key] = last if isinstance(written.code, ast.Lambda) else back
        return self._read[key]
