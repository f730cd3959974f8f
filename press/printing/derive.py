"""Derive the notebooks that a source prints to, without outputs: their cells, order, ids and metadata."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4

from press.book import COMPANIONS, Book
from press.imprint import BYLINE
from press.manuscript.claims import with_verdicts
from press.manuscript.faults import with_list
from press.manuscript.problems import Place, PressError
from press.manuscript.questions import QUESTIONS, Question, as_markdown
from press.manuscript.reading import Cell, anchor
from press.manuscript.sheet import TITLE, ExerciseSheet
from press.manuscript.task import Exercise
from press.printing import package
from press.versions.notes import PAGE, places, with_notes, with_others

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# Above the report of an exercise that nobody has begun.
UNSOLVED = "Before you start, the check prints a report such as:"
# Cells with the place of each and the id that it is to have, "" where its text decides.
_Cells = list[tuple[Cell, Place, str]]


@dataclasses.dataclass(frozen=True)
class Derived:
    """A notebook to print: where, each cell's place in the manuscript, and whether it is stored with outputs."""

    path: Path
    notebook: NotebookNode
    places: tuple[Place, ...]
    executed: bool
    exercise_ids: tuple[str, ...] = ()


def derive(book: Book, source: Path, reports: Mapping[str, str]) -> list[Derived]:
    """The notebooks that a source prints to.

    Args:
        book: the book that it belongs to.
        source: one of ``book.sources``.
        reports: what ``check`` prints for each unsolved exercise, by id; an id that is missing gets an empty block.

    Raises:
        PressError: the source cannot be printed.
    """
    targets = book.targets(source)
    if source in book.sheet_folders:
        sheet = book.sheet(source)
        tasks = [_task(exercise, book) for exercise in sheet.exercises]
        ids = tuple(exercise.id for exercise in sheet.exercises)
        return [
            Derived(targets[0], *_printed(_exercise_cells(book, sheet, tasks, reports), book), False, ids),
            Derived(targets[1], *_printed(_solution_cells(sheet, tasks), book), True, ids),
        ]
    page = book.page(source)
    cells = with_verdicts(page, book.claims(source), book.chapters)
    if source in book.chapters.values():
        companion = book.companions.get(f"{COMPANIONS}/{source.stem}")
        cells = with_list(page, cells, book.page(companion) if companion else None)
    cells = with_notes(page, [_with_byline(cell, book) for cell in cells], lambda: book.changes)
    cells = with_others(cells, _told_elsewhere(book, source, targets[0]))
    return [Derived(targets[0], *_printed([(cell, Place(source, cell.line), "") for cell in cells], book), True)]


def exercise_index(sheets: Iterable[ExerciseSheet], needed: Mapping[str, str]) -> dict[str, dict[str, object]]:
    """What the library needs to know of the exercises: ``fxbook/exercises.json``.

    Args:
        sheets: the exercises.
        needed: the oldest torch with which a solution passes, by exercise; those that pass with any are not in it.
    """
    return {
        exercise.id: {
            "title": exercise.title,
            "chapter": sheet.chapter,
            "difficulty": exercise.difficulty,
            "minutes": exercise.minutes,
            "read": exercise.read,
            "answer": exercise.answer,
            "hints": exercise.hints,
            "what_if": exercise.what_if,
            **({"torch": needed[exercise.id]} if exercise.id in needed else {}),
        }
        for sheet in sheets
        for exercise in sheet.exercises
    }


def _told_elsewhere(book: Book, source: Path, printed: Path) -> list[str]:
    """For what cells of a page differ on other versions of torch, besides what its notes tell."""
    met = book.record.pages.get(printed.relative_to(book.root).as_posix(), [])
    noted = {place.fact for place in places(book.page(source))} if met else set()
    page = Path(os.path.relpath(book.root / "chapters" / f"{PAGE}.md", printed.parent)).as_posix()
    changes = [book.changes[name] for name in met if name in book.changes and name not in noted]
    ordered = sorted(changes, key=lambda one: one.order, reverse=True)
    links = [f"{one.holds}: [{one.fact.title}]({page}#{anchor(one.fact.title)})" for one in ordered]
    return [*links, *(book.remarks[name].says for name in met if name in book.remarks)]


def _with_byline(cell: Cell, book: Book) -> Cell:
    if cell.kind != "markdown" or BYLINE not in cell.source.split("\n"):
        return cell
    return dataclasses.replace(cell, source=cell.source.replace(BYLINE, book.imprint.byline))


def _printed(cells: _Cells, book: Book) -> tuple[NotebookNode, tuple[Place, ...]]:
    notebook = v4.new_notebook(metadata=nbformat.from_dict(METADATA))
    seen: dict[str, int] = {}
    cells = package.named(cells, book.imprint)
    for cell, _, wanted in cells:
        base = wanted or hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        seen[base] = seen.get(base, 0) + 1
        identity = base if seen[base] == 1 else f"{base}-{seen[base]}"
        make = v4.new_code_cell if cell.kind == "code" else v4.new_markdown_cell
        metadata = package.FOLDED if wanted == package.CELL else {"tags": list(cell.tags)} if cell.tags else {}
        notebook.cells.append(make(source=cell.source, id=identity, metadata=nbformat.from_dict(metadata)))
    return notebook, tuple(place for _, place, _ in cells)


def _exercise_cells(book: Book, sheet: ExerciseSheet, tasks: Iterable[Cell], reports: Mapping[str, str]) -> _Cells:
    title, *rest = sheet.opening
    title = dataclasses.replace(title, source=title.source.replace(TITLE, _numbered(sheet, TITLE), 1))
    cells = [(title, sheet.opening_place(title), ""), *_question_cells(book, sheet)]
    cells += [(cell, sheet.opening_place(cell), "") for cell in rest]
    for exercise, task in zip(sheet.exercises, tasks, strict=True):
        cells += _of_exercise(exercise, task, exercise.stub)
        report = reports.get(exercise.id, "").rstrip()
        unsolved = f"{UNSOLVED}\n\n```text\n{report}\n```"
        folds = [_fold("First hint", exercise.hints[0]), _fold("Second hint", exercise.hints[1])]
        folds.append(_fold("Once it passes", exercise.what_if))
        cells.append((_prose("\n\n".join([unsolved, *folds])), exercise.place(), f"{exercise.id}-help"))
    done = f"Done, or stuck for good? The [solutions](../solutions/{sheet.chapter}.ipynb) say why, too."
    cells.append((_prose(done), Place(sheet.folder, 0), "solutions"))
    return cells


def _question_cells(book: Book, sheet: ExerciseSheet) -> _Cells:
    """The questions before the first exercise, in one cell; none where there are none."""
    if not sheet.questions:
        return []
    place = Place(sheet.folder / QUESTIONS, 1)
    headings = book.headings(sheet.chapter)

    def link(question: Question) -> str:
        if question.read not in headings:
            message = f"read: {question.read} names no heading of {sheet.chapter}.md; it has: {', '.join(headings)}"
            raise PressError(place.problem(message))
        return f"[{headings[question.read]}](../chapters/{sheet.chapter}.ipynb#{question.read})"

    return [(_prose(as_markdown(sheet.questions, link)), place, "questions")]


def _solution_cells(sheet: ExerciseSheet, tasks: Iterable[Cell]) -> _Cells:
    title, *rest = sheet.opening
    link = f"[exercises](../exercises/{sheet.chapter}.ipynb)"
    back = f"Try the {link} first: a solution read is soon forgotten, one found is not."
    heading = _numbered(sheet, TITLE.replace("Exercises", "Solutions")) + sheet.title
    opening = [dataclasses.replace(title, source=f"{heading}\n\n{back}")]
    cells = [(cell, sheet.opening_place(cell), "") for cell in (*opening, *rest)]
    for exercise, task in zip(sheet.exercises, tasks, strict=True):
        cells += _of_exercise(exercise, task, exercise.solution)
        after = f"{exercise.why}\n\n{_fold('What if', exercise.what_if)}"
        cells.append((_prose(after), exercise.place(), f"{exercise.id}-why"))
    return cells


def _numbered(sheet: ExerciseSheet, title: str) -> str:
    """A heading of the first level with the number of the chapter, as the text cites it."""
    return title.replace("# ", f"# {sheet.chapter[:2]} · ", 1)


def _of_exercise(exercise: Exercise, task: Cell, code: Iterable[Cell]) -> _Cells:
    cells = [(task, exercise.place(), f"{exercise.id}-task")]
    return cells + [(cell, exercise.place(cell.line), f"{exercise.id}-code") for cell in code]


def _task(exercise: Exercise, book: Book) -> Cell:
    chapter, _, anchor = exercise.read.partition("#")
    headings = book.headings(chapter)
    if anchor not in headings:
        known = ", ".join(headings) or "no such chapter"
        message = f"read: {exercise.read} names no heading of {chapter}.md; it has: {known}"
        raise PressError(exercise.place().problem(message))
    stars = "●" * exercise.difficulty + "○" * (3 - exercise.difficulty)
    meta = (
        f"{stars} difficulty {exercise.difficulty} of 3 · about {exercise.minutes} minutes · `{exercise.id}` · "
        f"read [{headings[anchor]}](../chapters/{chapter}.ipynb#{anchor})"
    )
    if needed := book.solutions_need.get(exercise.id):
        meta += f" · the solution needs torch {needed} or newer"
    return _prose(f'## {exercise.title}\n\n<div class="fx-meta">\n\n{meta}\n\n</div>\n\n{exercise.task}')


def _prose(source: str) -> Cell:
    return Cell("markdown", source, 0)


def _fold(summary: str, text: str) -> str:
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"
