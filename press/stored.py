"""Notebook files: read as they are, written in one canonical form."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode


def load(path: Path) -> NotebookNode | None:
    """The printed notebook, or ``None`` where there is none or it is not a notebook."""
    try:
        return nbformat.read(path, as_version=4)
    except (OSError, ValueError, nbformat.ValidationError):
        return None


def serialised(notebook: NotebookNode) -> str:
    """The canonical text of a notebook file."""
    return nbformat.writes(notebook, sort_keys=True, indent=1, ensure_ascii=False) + "\n"


def replace(path: Path, text: str) -> bool:
    """Write a file as a whole or not at all; leave it alone, and return false, when nothing changes."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
    return True
