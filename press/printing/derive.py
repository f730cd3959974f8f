"""Derive the notebooks that a manuscript prints to, without outputs: their cells, order, ids and metadata."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4

from press import ROOT
from press.manuscript.claims import with_verdicts
from press.manuscript.exercises import Exercise, ExerciseSheet, split
from press.manuscript.problems import PressError, Problem
from press.manuscript.reading import Cell, Manuscript, headings, is_manuscript, read

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


@dataclasses.dataclass(frozen=True)
class Derived:
    """A notebook to print: where, from which manuscript, and each cell's line there (0: the press wrote it)."""

    path: Path
    manuscript: Path
    notebook: NotebookNode
    lines: tuple[int, ...]
    executed: bool
    exercise_ids: tuple[str, ...] = ()


def manuscripts(root: Path = ROOT) -> list[Path]:
    """Every file of the manuscript that prints to a notebook, in the order of the book."""
    book = root / "book"
    return sorted(
        path
        for path in book.rglob("*.md")
        if not path.relative_to(book).parts[0].startswith("_") and is_manuscript(path.read_text(encoding="utf-8"))
    )


def derive(path: Path, reports: Mapping[str, str], root: Path = ROOT) -> list[Derived]:
    """The notebooks that a manuscript prints to.

    Args:
        path: the manuscript.
        reports: what ``check`` prints for each unsolved exercise, by id; an id that is missing gets an empty block.

    Raises:
        PressError: the manuscript cannot be printed.
    """
    manuscript = read(path)
    inside = path.relative_to(root / "book").with_suffix(".ipynb")
    if inside.parts[0] == "exercises":
        sheet = split(manuscript)
        _refuse_unchecked(sheet, root)
        return [
            _printed(root / "exercises" / inside.name, manuscript, _exercise_cells(sheet, reports, root), sheet, False),
            _printed(root / "solutions" / inside.name, manuscript, _solution_cells(sheet, root), sheet, True),
        ]
    target = inside.relative_to("chapters") if inside.parts[0] == "chapters" else inside
    cells = with_verdicts(manuscript, root)
    return [_printed(root / "chapters" / target, manuscript, [(cell, "") for cell in cells], None, True)]


def exercise_index(sheets: Iterable[ExerciseSheet]) -> dict[str, dict[str, object]]:
    """What the library needs to know of the exercises: ``fxbook/exercises.json``.

    Raises:
        PressError: two manuscripts use one id.
    """
    index: dict[str, dict[str, object]] = {}
    for sheet in sheets:
        for exercise in sheet.exercises:
            if exercise.id in index:
                raise PressError(sheet.manuscript.problem(exercise.line, f"the id {exercise.id!r} is used twice"))
            index[exercise.id] = {
                "title": exercise.title,
                "chapter": sheet.manuscript.path.stem,
                "difficulty": exercise.difficulty,
                "minutes": exercise.minutes,
                "read": exercise.read,
                "answer": exercise.answer,
                "hints": exercise.hints,
                "what_if": exercise.what_if,
            }
    return index


def _refuse_unchecked(sheet: ExerciseSheet, root: Path) -> None:
    """Read the ids that have a check from the source of its chapter; importing it would import torch."""
    module = root / "fxbook" / "checks" / f"chapter_{sheet.manuscript.path.name[:2]}.py"
    try:
        tree = ast.parse(module.read_text(encoding="utf-8") if module.exists() else "")
    except SyntaxError as error:
        raise PressError(Problem(module, error.lineno or 1, f"is not valid Python: {error.msg}")) from error
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Exercise"
    ]
    given = [keyword.value for call in calls for keyword in call.keywords if keyword.arg == "id"]
    checked = {value.value for value in given if isinstance(value, ast.Constant)}
    for exercise in sheet.exercises:
        if exercise.id not in checked:
            message = f"{exercise.id} has no check: add an Exercise of that id to fxbook/checks/{module.name}"
            raise PressError(sheet.manuscript.problem(exercise.line, message))


def _printed(
    path: Path, manuscript: Manuscript, cells: list[tuple[Cell, str]], sheet: ExerciseSheet | None, executed: bool
) -> Derived:
    notebook = v4.new_notebook(metadata=nbformat.from_dict(METADATA))
    seen: dict[str, int] = {}
    for cell, wanted in cells:
        base = wanted or hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        seen[base] = seen.get(base, 0) + 1
        identity = base if seen[base] == 1 else f"{base}-{seen[base]}"
        make = v4.new_code_cell if cell.kind == "code" else v4.new_markdown_cell
        metadata = {"tags": list(cell.tags)} if cell.tags else {}
        notebook.cells.append(make(source=cell.source, id=identity, metadata=nbformat.from_dict(metadata)))
    ids = tuple(exercise.id for exercise in sheet.exercises) if sheet else ()
    return Derived(path, manuscript.path, notebook, tuple(cell.line for cell, _ in cells), executed, ids)


def _prose(source: str) -> Cell:
    return Cell("markdown", source, 0)


def _exercise_cells(sheet: ExerciseSheet, reports: Mapping[str, str], root: Path) -> list[tuple[Cell, str]]:
    cells = [(cell, "") for cell in sheet.opening]
    for exercise in sheet.exercises:
        cells.append((_task(sheet, exercise, root), f"{exercise.id}-task"))
        cells += [(cell, f"{exercise.id}-code") for cell in exercise.stub]
        report = reports.get(exercise.id, "").rstrip()
        unsolved = f"Before you start, the check prints:\n\n```text\n{report}\n```"
        folds = [_fold("First hint", exercise.hints[0]), _fold("Second hint", exercise.hints[1])]
        folds.append(_fold("Once it passes", exercise.what_if))
        cells.append((_prose("\n\n".join([unsolved, *folds])), f"{exercise.id}-help"))
    name = sheet.manuscript.path.with_suffix(".ipynb").name
    cells.append((_prose(f"Done, or stuck for good? The [solutions](../solutions/{name}) say why, too."), "solutions"))
    return cells


def _solution_cells(sheet: ExerciseSheet, root: Path) -> list[tuple[Cell, str]]:
    title, *rest = sheet.opening
    name = sheet.manuscript.path.with_suffix(".ipynb").name
    back = f"Try the [exercises](../exercises/{name}) first: a solution read is soon forgotten, one found is not."
    cells = [(dataclasses.replace(title, source=f"# Solutions: {sheet.title}\n\n{back}"), "")]
    cells += [(cell, "") for cell in rest]
    for exercise in sheet.exercises:
        cells.append((_task(sheet, exercise, root), f"{exercise.id}-task"))
        cells += [(cell, f"{exercise.id}-code") for cell in exercise.solution]
        after = f"{exercise.why}\n\n{_fold('What if', exercise.what_if)}"
        cells.append((_prose(after), f"{exercise.id}-why"))
    return cells


def _task(sheet: ExerciseSheet, exercise: Exercise, root: Path) -> Cell:
    chapter, _, place = exercise.read.partition("#")
    source = root / "book" / "chapters" / f"{chapter}.md"
    found = headings(read(source)) if source.exists() else {}
    if place not in found:
        known = ", ".join(found) or "no such chapter"
        message = f"{exercise.id}: read: {exercise.read} names no heading of {source.name}; it has: {known}"
        raise PressError(Problem(sheet.manuscript.path, exercise.line, message))
    stars = "●" * exercise.difficulty + "○" * (3 - exercise.difficulty)
    meta = (
        f"{stars} difficulty {exercise.difficulty} of 3 · about {exercise.minutes} minutes · `{exercise.id}` · "
        f"read [{found[place]}](../chapters/{chapter}.ipynb#{place})"
    )
    source_text = f'## {exercise.title}\n\n<div class="fx-meta">\n\n{meta}\n\n</div>\n\n{exercise.task}'
    return Cell("markdown", source_text, exercise.line)


def _fold(summary: str, text: str) -> str:
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"
