"""Derive the notebooks of a source, without outputs: their cells, order, ids and metadata."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4

from press.book import Book
from press.manuscript.problems import Place, PressError
from press.manuscript.questions import QUESTIONS, Question, as_markdown
from press.manuscript.reading import Cell, Manuscript, anchor
from press.manuscript.sheet import TITLE, ExerciseSheet
from press.manuscript.task import Exercise
from press.printing.package import CELL, FOLDED, with_package
from press.printing.transforms import (
    HIDES_UNTIL_GUESSED,
    Transform,
    with_answers,
    with_byline,
    with_faults,
    with_verdicts,
)
from press.versions.notes import PAGE, places, with_notes, with_others

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# Shown above the report on an exercise that nobody has begun.
UNSOLVED = "Before you start, the check prints a report such as:"


@dataclasses.dataclass(frozen=True)
class Derived:
    path: Path
    notebook: NotebookNode
    places: tuple[Place, ...]
    executed: bool
    exercise_ids: tuple[str, ...] = ()


def derive(book: Book, source: Path) -> list[Derived]:
    """The notebooks of one of ``book.sources``; the reports on unsolved exercises are still empty."""
    targets = book.targets(source)
    if source not in book.sheet_folders:
        return [Derived(targets[0], *_notebook(book, book.page(source), TRANSFORMS), True)]
    sheet = book.sheet(source)
    ids = tuple(exercise.id for exercise in sheet.exercises)
    pages = (Manuscript(source, tuple(cells(book, sheet))) for cells in (_exercises, _solutions))
    exercises, solutions = (_notebook(book, page, [with_package]) for page in pages)
    return [Derived(targets[0], *exercises, False, ids), Derived(targets[1], *solutions, True, ids)]


def with_reports(derived: Derived, reports: Mapping[str, str]) -> Derived:
    """The notebook with the report of ``check`` on each unsolved exercise; those not in ``reports`` stay empty."""
    notebook = copy.deepcopy(derived.notebook)
    for cell in notebook.cells:
        if (report := reports.get(cell.id.removesuffix("-help"))) and cell.id.endswith("-help"):
            cell.source = cell.source.replace(_block(""), _block(report.rstrip()), 1)
    return dataclasses.replace(derived, notebook=notebook)


def _block(report: str) -> str:
    return f"```text\n{report}\n```"


def exercise_index(sheets: Iterable[ExerciseSheet], needed: Mapping[str, str]) -> dict[str, dict[str, object]]:
    """The contents of ``fxbook/exercises.json``, which the library reads.

    ``needed`` is the oldest torch with which a solution passes, by exercise, for those that fail with an older one.
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


def _other_changes(book: Book, source: Path, path: Path) -> list[str]:
    """Links to the facts that make cells of a page differ on other versions of torch, except those in its notes."""
    met = book.record.pages.get(path.relative_to(book.root).as_posix(), [])
    noted = {place.fact for place in places(book.page(source))} if met else set()
    page = Path(os.path.relpath(book.root / "chapters" / f"{PAGE}.md", path.parent)).as_posix()
    changes = [book.changes[name] for name in met if name in book.changes and name not in noted]
    ordered = sorted(changes, key=lambda one: one.order, reverse=True)
    links = [f"{one.holds}: [{one.fact.title}]({page}#{anchor(one.fact.title)})" for one in ordered]
    return [*links, *(book.remarks[name].says for name in met if name in book.remarks)]


def _with_others(page: Manuscript, book: Book) -> Manuscript:
    cells = with_others(page.cells, _other_changes(book, page.path, book.targets(page.path)[0]))
    return dataclasses.replace(page, cells=tuple(cells))


TRANSFORMS: list[Transform] = [
    with_verdicts,
    with_faults,
    with_byline,
    with_notes,
    with_answers,
    _with_others,
    with_package,
]


def _notebook(book: Book, page: Manuscript, transforms: Iterable[Transform]) -> tuple[NotebookNode, tuple[Place, ...]]:
    for transform in transforms:
        page = transform(page, book)
    notebook = v4.new_notebook(metadata=nbformat.from_dict(METADATA))
    seen: dict[str, int] = {}
    for cell in page.cells:
        base = cell.id or hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        seen[base] = seen.get(base, 0) + 1
        identity = base if seen[base] == 1 else f"{base}-{seen[base]}"
        make = v4.new_code_cell if cell.kind == "code" else v4.new_markdown_cell
        metadata = _metadata(cell)
        notebook.cells.append(make(source=cell.source, id=identity, metadata=nbformat.from_dict(metadata)))
    return notebook, tuple(Place(cell.path or page.path, cell.line) for cell in page.cells)


def _metadata(cell: Cell) -> dict[str, object]:
    if cell.id == CELL:
        return FOLDED
    # The tag folds the output on the page; JupyterLab needs other metadata for that.
    hidden = {"jupyter": {"outputs_hidden": True}} if HIDES_UNTIL_GUESSED in cell.tags else {}
    return hidden | ({"tags": list(cell.tags)} if cell.tags else {})


def _exercises(book: Book, sheet: ExerciseSheet) -> Iterator[Cell]:
    title, *rest = sheet.opening
    yield dataclasses.replace(title, source=title.source.replace(TITLE, _numbered(sheet, TITLE), 1))
    yield from _questions(book, sheet)
    yield from rest
    for exercise in sheet.exercises:
        yield from _of_exercise(book, exercise, exercise.stub)
        folds = [_fold("First hint", exercise.hints[0]), _fold("Second hint", exercise.hints[1])]
        folds.append(_fold("Once it passes", exercise.what_if))
        yield _prose("\n\n".join([UNSOLVED, _block(""), *folds]), exercise.place(), f"{exercise.id}-help")
    done = f"Done, or stuck for good? The [solutions](../solutions/{sheet.chapter}.ipynb) say why. "
    done += "[All exercises](../chapters/reference/exercises.md) lists those of the other chapters."
    yield _prose(done, Place(sheet.folder, 0), "solutions")


def _questions(book: Book, sheet: ExerciseSheet) -> Iterator[Cell]:
    place = Place(sheet.folder / QUESTIONS, 1)
    headings = book.headings(sheet.chapter)

    def link(question: Question) -> str:
        if question.read not in headings:
            message = f"read: {question.read} names no heading of {sheet.chapter}.md; it has: {', '.join(headings)}"
            raise PressError(place.problem(message))
        return f"[{headings[question.read]}](../chapters/{sheet.chapter}.ipynb#{question.read})"

    if sheet.questions:
        yield _prose(as_markdown(sheet.questions, link), place, "questions")


def _solutions(book: Book, sheet: ExerciseSheet) -> Iterator[Cell]:
    title, *rest = sheet.opening
    link = f"[exercises](../exercises/{sheet.chapter}.ipynb)"
    back = f"Try the {link} first: a solution read is soon forgotten, one found is not."
    heading = _numbered(sheet, TITLE.replace("Exercises", "Solutions")) + sheet.title
    yield dataclasses.replace(title, source=f"{heading}\n\n{back}")
    yield from rest
    for exercise in sheet.exercises:
        yield from _of_exercise(book, exercise, exercise.solution)
        after = f"{exercise.why}\n\n{_fold('What if', exercise.what_if)}"
        yield _prose(after, exercise.place(), f"{exercise.id}-why")


def _numbered(sheet: ExerciseSheet, title: str) -> str:
    return title.replace("# ", f"# {sheet.chapter[:2]} · ", 1)


def _of_exercise(book: Book, exercise: Exercise, code: Iterable[Cell]) -> Iterator[Cell]:
    yield _task(exercise, book)
    yield from (dataclasses.replace(cell, id=f"{exercise.id}-code") for cell in code)


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
    text = f'## {exercise.title}\n\n<div class="fx-meta">\n\n{meta}\n\n</div>\n\n{exercise.task}'
    return _prose(text, exercise.place(), f"{exercise.id}-task")


def _prose(source: str, place: Place, identity: str) -> Cell:
    return Cell("markdown", source, place.line, path=place.path, id=identity)


def _fold(summary: str, text: str) -> str:
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"
