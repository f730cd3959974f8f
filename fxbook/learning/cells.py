"""Parse a cell without running it: which names it binds for other cells, and which it needs."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
import symtable
from collections.abc import Iterator


@dataclasses.dataclass(frozen=True)
class Names:
    """The names that a cell binds in the notebook (``"*"`` for a star import), and those that it looks up."""

    given: frozenset[str]
    used: frozenset[str]


@functools.lru_cache(4096)
def names(source: str) -> Names:
    """The names in a cell; if it is not valid Python, those that its text begins to define."""
    found = parsed(source)
    if found is None:
        words = [line.split("(")[0].split(":")[0].split() for line in source.splitlines() if line[:1].strip()]
        return Names(
            frozenset(line[1] for line in words if len(line) == 2 and line[0] in ("def", "class")), frozenset()
        )
    tree, table = found
    given = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    used = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()}
    # For `names |= …`, the symbol table records only that it assigns.
    used |= {one.target.id for one in tree.body if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name)}
    for inner in _scopes(table):
        symbols = [symbol for symbol in inner.get_symbols() if symbol.is_global()]
        given |= {symbol.get_name() for symbol in symbols if symbol.is_declared_global() and symbol.is_assigned()}
        used |= {symbol.get_name() for symbol in symbols if symbol.is_referenced()}
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in tree.body):
        given.add("*")
    return Names(frozenset(given), frozenset(used - vars(builtins).keys()))


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _scopes(child)


@functools.lru_cache(512)
def parsed(source: str) -> tuple[ast.Module, symtable.SymbolTable] | None:
    try:
        return ast.parse(source), symtable.symtable(source, "<cell>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
