"""The private names that the book's own cells use, each with the reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from nbformat import NotebookNode

from press.pages.api.names import REASONS
from press.printing import package


def private_names(notebooks: Mapping[Path, NotebookNode]) -> dict[str, list[Path]]:
    """The names with one leading underscore that cells use, each with its notebooks, both in order.

    Attributes of ``self`` in a page's own class do not count.
    """
    found: dict[str, list[Path]] = {}
    for path, notebook in notebooks.items():
        for cell in notebook.cells:
            for name in _names(package.python(cell)) if cell.cell_type == "code" else ():
                if name.startswith("_") and not name.startswith("__") and path not in found.setdefault(name, []):
                    found[name].append(path)
    return dict(sorted((name, paths) for name, paths in found.items() if paths))


def _names(source: str) -> Iterator[str]:
    """Names of attributes, imports and keyword arguments."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module or "").split(".")
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (part for alias in node.names for part in alias.name.split("."))
        elif isinstance(node, ast.Call):
            yield from (keyword.arg for keyword in node.keywords if keyword.arg)


def table(notebooks: Mapping[Path, NotebookNode]) -> str:
    """A table of the names, with links relative to ``chapters/reference/``."""
    rows = ["| name | what for, and why no public name | used in |", "|---|---|---|"]
    for name, paths in private_names(notebooks).items():
        folders = {"chapters": "../", "reference": ""}
        links = [
            f"[{_label(path)}]({folders.get(path.parent.name, f'../{path.parent.name}/')}{path.name})" for path in paths
        ]
        rows.append(f"| `{name}` | {REASONS.get(name, '')} | {', '.join(links)} |")
    return "\n".join(rows)


def _label(path: Path) -> str:
    number = path.stem[:2]
    if path.parent.name == "chapters":
        return number
    return f"{number}, when it breaks" if number.isdigit() else path.stem.replace("_", " ")
