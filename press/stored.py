"""Notebook files: read as they are, and written in one canonical form."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode


def load(path: Path) -> NotebookNode | None:
    """The notebook, or ``None`` if it is missing or not a notebook."""
    try:
        return nbformat.read(path, as_version=4)
    except (OSError, ValueError, nbformat.ValidationError):
        return None


def serialised(notebook: NotebookNode) -> str:
    return nbformat.writes(notebook, sort_keys=True, indent=1, ensure_ascii=False) + "\n"


def replace(path: Path, text: str) -> bool:
    """Write a file atomically; return whether it changed."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
    return True
