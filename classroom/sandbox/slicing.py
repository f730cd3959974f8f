"""Keep of Python modules only what some names need: the definitions and imports reached from them, nothing else."""

from __future__ import annotations

import ast
import dataclasses
import symtable
from collections.abc import Callable, Iterable, Iterator, Mapping

Name = tuple[str, str]
"""A module and a name at its top level."""


class Slices:
    """The part of some modules that is reached from names; grows with each call of :meth:`keep`.

    Args:
        modules: their trees by dotted name. What they import from other packages is kept.
    """

    def __init__(self, modules: Mapping[str, ast.Module]) -> None:
        self._modules = {name: _Module(name, tree) for name, tree in modules.items()}

    def keep(self, names: Iterable[Name]) -> None:
        """Keep these names and all that they need.

        Raises:
            KeyError: a module has no such name.
        """
        waiting = list(names)
        while waiting:
            module, name = waiting.pop()
            waiting += self._modules[module].keep(name, self._modules)

    def keep_all(self, module: str, wanted: Callable[[ast.stmt], bool]) -> None:
        """Keep what the top-level statements of a module define for which ``wanted`` holds."""
        found = self._modules[module]
        self.keep([(module, name) for statement in found.tree.body if wanted(statement) for name in _bound(statement)])

    def sources(self) -> dict[str, str]:
        """The text of each module of which something is kept."""
        return {name: module.source() for name, module in self._modules.items() if module.touched}


@dataclasses.dataclass
class _Module:
    name: str
    tree: ast.Module
    touched: bool = False

    def __post_init__(self) -> None:
        self._kept: set[int] = set()
        self._imported: set[str] = set()
        self._homes: dict[str, list[int]] = {}
        self._always = [i for i, statement in enumerate(self.tree.body) if _works_by_itself(statement)]
        self._lazy = any(isinstance(one, ast.ImportFrom) and one.module == "__future__" for one in self.tree.body)
        for index, statement in enumerate(self.tree.body):
            for name in _bound(statement):
                self._homes.setdefault(name, []).append(index)

    def keep(self, name: str, others: Mapping[str, _Module]) -> list[Name]:
        """Keep the statements that define the name; the names that these need and that may not be kept yet."""
        needed: list[Name] = []
        first, self.touched = not self.touched, True
        if name not in self._homes and f"{self.name}.{name}" not in others:
            raise KeyError(f"{self.name} has no {name!r} at its top level")
        for index in [*self._homes.get(name, []), *(self._always if first else [])]:
            statement = self.tree.body[index]
            if isinstance(statement, ast.ImportFrom):
                if name not in self._imported:
                    self._imported.add(name)
                    needed += _sources_of(statement, name, others)
            elif index not in self._kept:
                self._kept.add(index)
                needed += self._needed_by(statement, others)
        return needed

    def _needed_by(self, statement: ast.stmt, others: Mapping[str, _Module]) -> Iterator[Name]:
        for name in _names_used(statement, self._lazy):
            if module := self._submodule(name, others):
                yield self.name, name
                yield from ((module, attribute) for attribute in _attributes_of(statement, name))
            elif name in self._homes:
                yield self.name, name
        for inner in ast.walk(statement):
            if isinstance(inner, ast.ImportFrom) and inner is not statement:
                yield from (source for alias in inner.names for source in _sources_of(inner, alias.name, others))

    def _submodule(self, name: str, others: Mapping[str, _Module]) -> str | None:
        """The module that a name stands for, where it was imported as ``from package import module``."""
        for index in self._homes.get(name, []):
            statement = self.tree.body[index]
            if isinstance(statement, ast.ImportFrom):
                original = next(alias.name for alias in statement.names if (alias.asname or alias.name) == name)
                if (module := f"{statement.module}.{original}") in others:
                    return module
        return None

    def source(self) -> str:
        body: list[ast.stmt] = []
        for index, statement in enumerate(self.tree.body):
            if isinstance(statement, ast.ImportFrom) and _top(statement.module) == _top(self.name):
                kept = [alias for alias in statement.names if (alias.asname or alias.name) in self._imported]
                if kept:
                    body.append(ast.ImportFrom(statement.module, kept, statement.level))
            elif index in self._kept or isinstance(statement, ast.Import | ast.ImportFrom):
                body.append(statement)
        return ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))


def _top(module: str | None) -> str:
    return (module or "").partition(".")[0]


def _works_by_itself(statement: ast.stmt) -> bool:
    """Whether a statement does something besides giving names: a call, a loop, an import on a condition."""
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.If):
        return ast.unparse(statement.test) not in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    return isinstance(statement, ast.For | ast.While | ast.With | ast.Try | ast.Delete | ast.Assert)


def _bound(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [statement.name]
        case ast.Import() | ast.ImportFrom():
            return [alias.asname or alias.name.split(".")[0] for alias in statement.names]
        case ast.Assign(targets=targets):
            return [name for target in targets for name in _roots(target)]
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return _roots(target)
        case _ if _works_by_itself(statement):
            return [n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        case _:
            return []


def _roots(target: ast.expr) -> list[str]:
    """The names that an assignment gives or changes: ``a`` for ``a = …``, ``a.b = …``, ``a[0] = …``."""
    if isinstance(target, ast.Tuple | ast.List):
        return [name for item in target.elts for name in _roots(item)]
    while isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
        target = target.value
    return [target.id] if isinstance(target, ast.Name) else []


def _sources_of(statement: ast.ImportFrom, name: str, others: Mapping[str, _Module]) -> list[Name]:
    """Where an imported name comes from, if it is one of these modules; of a module itself nothing is needed yet."""
    original = next((alias.name for alias in statement.names if name in (alias.asname, alias.name)), name)
    if statement.module in others and f"{statement.module}.{original}" not in others:
        return [(statement.module, original)]
    return []


def _attributes_of(statement: ast.stmt, name: str) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
            yield node.attr


def _names_used(statement: ast.stmt, lazy: bool) -> set[str]:
    """The names of the module that a statement uses when it runs, or when what it defines runs.

    ``lazy``: the module has ``from __future__ import annotations``, so that nothing evaluates its annotations.
    """
    tree = ast.parse(ast.unparse(statement))
    text = ast.unparse(_Unannotated().visit(tree) if lazy else tree)
    return set(_global_names(symtable.symtable(text, "statement", "exec")))


def _global_names(table: symtable.SymbolTable) -> Iterator[str]:
    for symbol in table.get_symbols():
        # In a class and in a module a name may be the module's until it is assigned to.
        if symbol.is_global() or (table.get_type() != "function" and symbol.is_referenced()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _global_names(child)


class _Unannotated(ast.NodeTransformer):
    """Without annotations."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        value = node.value or ast.Constant(None)
        return self.generic_visit(ast.copy_location(ast.Assign([node.target], value), node))
