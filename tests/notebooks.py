"""Take a function and everything that it needs from a notebook, without running the rest of the page."""

from __future__ import annotations

import ast
import functools
import importlib.metadata
from typing import Any

import nbformat
import pytest

from fxbook.learning.cells import names
from press import ROOT
from press.versions.tested import PROVEN_FROM, is_proven


def from_notebook(notebook: str, name: str, *others: str) -> Any:
    """Run a name's definition from a notebook, after the imports and definitions that it uses, and return it.

    Args:
        notebook: its name under ``chapters/``, without the suffix.
        name: a function or class.
        others: more names; the result is then a tuple of functions that share what they use.

    Raises:
        LookupError: no cell defines the name, or something that it uses.
        pytest.skip.Exception: torch is older than the versions on which the pages are tested. The record of versions
            says what their cells do there.
    """
    if not is_proven(importlib.metadata.version("torch")):
        pytest.skip(f"the pages are tested on torch {PROVEN_FROM} and newer: see book/reference/versions.yml")
    return _from_notebook(notebook, name, *others)


@functools.cache
def _from_notebook(notebook: str, name: str, *others: str) -> Any:
    cells = nbformat.read(ROOT / "chapters" / f"{notebook}.ipynb", as_version=4).cells
    statements = [
        (statement, given)
        for cell in cells
        if cell.cell_type == "code"
        for statement in ast.parse(cell.source).body
        if (given := _bound(statement)) or _owners(statement)
    ]
    needed: set[int] = set()
    wanted = [_place(statements, asked, len(statements), notebook) for asked in (name, *others)]
    while wanted:
        place = wanted.pop()
        if place in needed:
            continue
        needed.add(place)
        statement, given = statements[place]
        used = names(ast.unparse(statement)).used - given
        wanted += [_place(statements, name, place, notebook) for name in used]
        # A later function that is registered with this one, such as an operator's fake kernel, belongs to it, and so
        # does a later assignment to an attribute of this class.
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            wanted += [after for after, (other, _) in enumerate(statements) if _owners(other) & given]
    module = ast.Module([statements[place][0] for place in sorted(needed)], type_ignores=[])
    namespace: dict[str, Any] = {"__name__": f"{notebook}.{name}"}
    exec(compile(module, f"{notebook}.ipynb", "exec"), namespace)
    return tuple(namespace[asked] for asked in (name, *others)) if others else namespace[name]


def _place(statements: list[tuple[ast.stmt, frozenset[str]]], name: str, before: int, notebook: str) -> int:
    """The last definition above the use; without one, the first below, which a function may use."""
    places = [place for place, (_, given) in enumerate(statements) if name in given]
    if not places:
        raise LookupError(f"No cell of {notebook} defines {name}.")
    return max((place for place in places if place < before), default=places[0])


def _owners(statement: ast.stmt) -> set[str]:
    """The names whose attribute is the statement's decorator or the target of its assignment."""
    places: list[ast.expr] = []
    if isinstance(statement, ast.FunctionDef):
        places = [place.func if isinstance(place, ast.Call) else place for place in statement.decorator_list]
    elif isinstance(statement, ast.Assign):
        places = statement.targets
    return {
        place.value.id for place in places if isinstance(place, ast.Attribute) and isinstance(place.value, ast.Name)
    }


def _bound(statement: ast.stmt) -> frozenset[str]:
    """The names that a cell's statement defines by import, definition or assignment."""
    defining = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign
    return names(ast.unparse(statement)).given if isinstance(statement, defining) else frozenset()
