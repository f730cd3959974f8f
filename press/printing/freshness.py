"""Compare printed notebooks with their manuscript, without executing anything: sources, order, ids and metadata."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from nbformat import NotebookNode

from press import ROOT
from press.manuscript.exercises import split
from press.manuscript.problems import Problem
from press.manuscript.reading import headings, read
from press.pages import fact_check, status, symptoms
from press.printing.derive import Derived, derive, exercise_index, manuscripts
from press.printing.execution import load

INDEX = Path("fxbook/exercises.json")
SECTIONS = Path("fxbook/sections.json")
CURE = "run `make notebooks`"
# Of a heading: code marks, and backslashes that escape.
_MARKUP = re.compile(r"`|\\(?=[^\w\s]|_)")


def stale(derived: Derived) -> Problem | None:
    """How a printed notebook differs from its manuscript, at the first cell that does; ``None`` when it does not."""
    printed = load(derived.path)
    if printed is None:
        return Problem(derived.path, 1, f"is missing or not a notebook: {CURE}")
    if printed.metadata != derived.notebook.metadata:
        return Problem(derived.path, 1, f"its metadata differs from its manuscript: {CURE}")
    for number, (cell, wanted) in enumerate(zip(printed.cells, derived.notebook.cells, strict=False), start=1):
        what = _difference(cell, wanted, derived.executed)
        if what:
            first = wanted.source.split("\n", 1)[0]
            return Problem(derived.path, 1, f"cell {number} ({first!r}) {what} its manuscript: {CURE}")
    if len(printed.cells) != len(derived.notebook.cells):
        counts = f"{len(printed.cells)} cells, its manuscript {len(derived.notebook.cells)}"
        return Problem(derived.path, 1, f"has {counts}: {CURE}")
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


def printed_reports(exercises: Path, ids: tuple[str, ...]) -> dict[str, str]:
    """What each unsolved exercise printed, as its notebook tells it; a report that is missing is left out."""
    notebook = load(exercises)
    reports = {}
    for cell in notebook.cells if notebook else ():
        identity = cell.get("id", "").removesuffix("-help")
        _, _, rest = cell.source.partition("```text\n")
        if identity in ids and rest:
            reports[identity] = rest.partition("\n```")[0]
    return reports


def derive_as_printed(path: Path, root: Path = ROOT) -> list[Derived]:
    """The notebooks of a manuscript, with the reports of unsolved exercises taken from what is printed."""
    first = derive(path, {}, root)
    if not first[0].exercise_ids:
        return first
    reports = printed_reports(first[0].path, first[0].exercise_ids)
    return derive(path, reports, root) if len(reports) == len(first[0].exercise_ids) else first


def index_text(root: Path = ROOT) -> str:
    """The text of ``fxbook/exercises.json`` as the manuscript wants it."""
    paths = [path for path in manuscripts(root) if path.parent.name == "exercises"]
    index: Mapping[str, object] = exercise_index(split(read(path)) for path in paths)
    return json.dumps(index, indent=1, ensure_ascii=False) + "\n"


def sections_text(root: Path = ROOT) -> str:
    """The text of ``fxbook/sections.json``: of each chapter the headings, anchor to text without its markup."""
    found = {}
    for path in manuscripts(root):
        if path.parent.name == "chapters":
            written = headings(read(path))
            found[path.stem] = {anchor: _MARKUP.sub("", heading) for anchor, heading in written.items()}
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def api_index_text(root: Path = ROOT) -> str:
    """The text of ``chapters/reference/api_index.md``."""
    from press.pages.api.page import page_text  # Needs torch, which takes seconds to import.

    return page_text(root)


# What notebooks need while they are printed, and what is made of the printed ones.
INDEXES = {INDEX: index_text, SECTIONS: sections_text}
PAGES = {
    Path("chapters/reference/symptom_index.md"): symptoms.page_text,
    Path("chapters/reference/api_index.md"): api_index_text,
    Path("chapters/reference/fact_check.md"): fact_check.page_text,
    Path("chapters/reference/status.md"): status.page_text,
}


def derived_texts(root: Path = ROOT) -> dict[Path, Callable[[Path], str]]:
    """Every derived text of a project; the pages belong to a book that has a reference part."""
    return {**INDEXES, **(PAGES if (root / "book" / "reference").is_dir() else {})}


def problems(root: Path = ROOT) -> list[Problem]:
    """Every printed file that differs from the manuscript, and every printed notebook that has none.

    Raises:
        PressError: a manuscript cannot be printed.
    """
    found = []
    expected = set()
    for path in manuscripts(root):
        for derived in derive_as_printed(path, root):
            expected.add(derived.path)
            if problem := stale(derived):
                found.append(problem)
    for folder in ("chapters", "exercises", "solutions"):
        for path in sorted((root / folder).rglob("*.ipynb")):
            if path not in expected and ".ipynb_checkpoints" not in path.parts:
                found.append(Problem(path, 1, "has no manuscript: write one under book/, or remove it"))
    for name, text in derived_texts(root).items():
        index = root / name
        if not index.exists() or index.read_text(encoding="utf-8") != text(root):
            found.append(Problem(index, 1, f"differs from what the manuscript gives: {CURE}"))
    return found
