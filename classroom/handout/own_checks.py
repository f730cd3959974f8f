"""Which modules of the public checks some chapters need: their own, what these import, what serves every chapter."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator

from press import ROOT

FOLDER = ROOT / "fxbook" / "checks"
_PACKAGE = "fxbook.checks"
_OF_A_CHAPTER = re.compile(r"_\d\d$")


def modules(chapters: Iterable[str]) -> set[str]:
    """The names of the modules in ``fxbook/checks`` that a release of these chapters holds.

    Args:
        chapters: ``"02_insertion_points"`` or ``"02"``.
    """
    shared = {path.stem for path in FOLDER.glob("*.py") if not _OF_A_CHAPTER.search(path.stem)}
    found: set[str] = set()
    waiting = [*shared, *(f"chapter_{chapter[:2]}" for chapter in chapters)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _imported(name)
    return found


@functools.cache
def _imported(name: str) -> tuple[str, ...]:
    """The modules of the package that a module of it imports, wherever it does."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    return tuple(name for node in ast.walk(tree) for name in _named(node) if (FOLDER / f"{name}.py").is_file())


def _named(node: ast.AST) -> Iterator[str]:
    """What may be a module of the package in an import."""
    if isinstance(node, ast.ImportFrom) and node.module == _PACKAGE:
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{_PACKAGE}."):
        yield str(node.module).removeprefix(f"{_PACKAGE}.")
    elif isinstance(node, ast.Import):
        yield from (alias.name.removeprefix(f"{_PACKAGE}.") for alias in node.names)
