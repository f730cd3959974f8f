"""Compare generated notebooks with their manuscript, without executing anything: sources, order, ids and metadata."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from nbformat import NotebookNode

from press.book import Book
from press.manuscript.problems import Problem
from press.printing.derive import Derived, derive, exercise_index, with_reports

INDEX = Path("fxbook/exercises.json")
SECTIONS = Path("fxbook/sections.json")
FIX = "run `make notebooks`"
# Files by path in the book, each with the function that makes its text.
Texts = Mapping[Path, Callable[[Book], str]]
# The backticks and the escaping backslashes in a heading.
_MARKUP = re.compile(r"`|\\(?=[^\w\s]|_)")


def stale(derived: Derived, stored: NotebookNode | None) -> Problem | None:
    """How a stored notebook differs from the derived one, at the first cell that differs, or ``None``."""
    if stored is None:
        return Problem(derived.path, 1, f"is missing or not a notebook: {FIX}")
    if stored.metadata != derived.notebook.metadata:
        return Problem(derived.path, 1, f"its metadata differs from its manuscript: {FIX}")
    for number, (cell, wanted) in enumerate(zip(stored.cells, derived.notebook.cells, strict=False), start=1):
        what = _difference(cell, wanted, derived.executed)
        if what:
            first = wanted.source.split("\n", 1)[0]
            return Problem(derived.path, 1, f"cell {number} ({first!r}) {what} its manuscript: {FIX}")
    if len(stored.cells) != len(derived.notebook.cells):
        counts = f"{len(stored.cells)} cells, and its manuscript has {len(derived.notebook.cells)}"
        return Problem(derived.path, 1, f"has {counts}: {FIX}")
    return None


def _difference(cell: NotebookNode, wanted: NotebookNode, executed: bool) -> str:
    for key in ("cell_type", "id", "source", "metadata"):
        if cell.get(key) != wanted.get(key):
            return f"differs in its {key.replace('_', ' ')} from"
    if cell.cell_type == "code" and executed and cell.execution_count is None:
        return "was not executed, unlike"
    if cell.cell_type == "code" and not executed and (cell.outputs or cell.execution_count):
        return "holds an output, unlike"
    return ""


def reports_in(notebook: NotebookNode | None, ids: tuple[str, ...]) -> dict[str, str]:
    reports = {}
    for cell in notebook.cells if notebook else ():
        identity = cell.get("id", "").removesuffix("-help")
        _, _, rest = cell.source.partition("```text\n")
        if identity in ids and rest:
            reports[identity] = rest.partition("\n```")[0]
    return reports


def derive_as_stored(book: Book, source: Path) -> list[Derived]:
    """The notebooks of a source, with the stored reports on unsolved exercises."""
    first, *rest = derive(book, source)
    return [with_reports(first, reports_in(book.stored(first.path), first.exercise_ids)), *rest]


def index_text(book: Book) -> str:
    """The text of ``fxbook/exercises.json``."""
    index: Mapping[str, object] = exercise_index(book.sheets(), book.solutions_need)
    return json.dumps(index, indent=1, ensure_ascii=False) + "\n"


def sections_text(book: Book) -> str:
    """The text of ``fxbook/sections.json``: the plain headings of each chapter, project and companion, by anchor."""
    sections = {
        name: {anchor: _MARKUP.sub("", heading) for anchor, heading in book.headings(name).items()}
        for name in (*book.chapters, *book.projects, *book.companions)
    }
    return json.dumps(sections, indent=1, ensure_ascii=False) + "\n"


# The notebooks need these while they are generated.
INDEXES: Texts = {INDEX: index_text, SECTIONS: sections_text}


def problems(book: Book, pages: Texts | None = None) -> list[Problem]:
    """Every generated file that differs from the manuscript, and every notebook without a manuscript."""
    found = []
    expected = set()
    for source in book.sources:
        for derived in derive_as_stored(book, source):
            expected.add(derived.path)
            if problem := stale(derived, book.stored(derived.path)):
                found.append(problem)
    for folder in ("chapters", "exercises", "solutions"):
        for path in sorted((book.root / folder).rglob("*.ipynb")):
            if path not in expected and ".ipynb_checkpoints" not in path.parts:
                found.append(Problem(path, 1, "has no manuscript: write one, or remove it"))
    for name, text in {**INDEXES, **(pages or {})}.items():
        index = book.root / name
        if not index.exists() or index.read_text(encoding="utf-8") != text(book):
            found.append(Problem(index, 1, f"differs from what the manuscript gives: {FIX}"))
    return found
