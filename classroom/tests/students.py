"""A made-up class for tests and benchmarks, with submissions in every shape that a grader meets.

Answers come from ``solutions/`` and the folders of the exercises, other cells from ``exercises/``. The class is
reproducible by its seed.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import functools
import io
import json
import random
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbformat import NotebookNode, v4

from fxbook.catalogue import catalogue
from fxbook.learning.sheets import Sheet
from fxbook.tasks import folder_of
from fxbook.tasks.answering import answers_to
from press import ROOT

Cells = list[NotebookNode]


@dataclasses.dataclass(frozen=True)
class Answer:
    """A student's answer and the rule that it violates, or ``""``. ``source`` is ``None`` for an unchanged stub."""

    source: str | None
    rule: str = ""


# ---- answers ---------------------------------------------------------------------------------------------------------


@functools.cache
def solution(exercise_id: str) -> Answer:
    cells = {cell.id: cell.source for cell in _printed("solutions", catalogue()[exercise_id].chapter).cells}
    return Answer(next(cells[cell] for cell, name in _homes().items() if name == exercise_id))


@functools.cache
def _homes() -> Mapping[str, str]:
    """Map the cells for answers to exercises, both by id."""
    return {
        cell.id: about.id
        for about in catalogue().values()
        for cell in _printed("exercises", about.chapter).cells
        if cell.id.startswith(f"{about.id}-code") and re.search(rf"^(def|class) {about.answer}\b", cell.source, re.M)
    }


@functools.cache
def answers(exercise_id: str) -> tuple[Answer, ...]:
    """The known answers, right ones first, with everything they need from their file.

    Answers that hang are left out, because they take seconds, and so are answers that are not functions or classes.
    """
    tree = ast.parse((folder_of(exercise_id) / "answers.py").read_text(encoding="utf-8"))
    cells, named = [], set()
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "fxbook.tasks.answering":
            continue
        if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.decorator_list:
            marks = [one for one in statement.decorator_list if re.match(r"(right|wrong|breaks)\b", ast.unparse(one))]
            named |= {statement.name} if marks else set()
            statement.decorator_list = [one for one in statement.decorator_list if one not in marks]
        cells.append(ast.unparse(statement))
    sheet = Sheet(Path(f"{exercise_id}.py"), tuple(cells))
    name = catalogue()[exercise_id].answer
    known_answers = []
    for answer in answers_to(exercise_id):
        if answer.name in named and "loop for ever" not in answer.says:
            needed = [cell for cell in sheet.only_for(answer.name).cells if cell]
            renamed = [] if answer.name == name else [f"{name} = {answer.name}"]
            known_answers.append(Answer("\n\n\n".join(needed + renamed), answer.violated))
    return tuple(sorted(known_answers, key=lambda answer: bool(answer.rule)))


# ---- notebooks -------------------------------------------------------------------------------------------------------


@functools.cache
def _printed(folder: str, chapter: str) -> NotebookNode:
    return nbformat.read(ROOT / folder / f"{chapter}.ipynb", as_version=4)


def notebook(chapter: str, answers: Mapping[str, Answer]) -> NotebookNode:
    """The exercise notebook of a chapter with answers in place of stubs."""
    nb = copy.deepcopy(_printed("exercises", chapter))
    for cell in nb.cells:
        answer = answers.get(_homes().get(cell.id, ""))
        if answer and answer.source is not None:
            cell.source = answer.source
    return nb


def as_bytes(nb: NotebookNode) -> bytes:
    return nbformat.writes(nb).encode()


def from_cells(cells: Iterable[str]) -> bytes:
    numbered = [v4.new_code_cell(cell, id=f"cell-{number}") for number, cell in enumerate(cells)]
    return as_bytes(v4.new_notebook(cells=numbered))


# ---- what students do to notebooks -----------------------------------------------------------------------------------

Shape = Callable[[NotebookNode], tuple[str, bytes]]


def cells_added(nb: NotebookNode) -> Cells:
    extra = ["1 / 0", "%matplotlib inline\nimport os", "!ls -l", "%%bash\nfor f in *; do echo $f; done"]
    extra += ["%%time\nnumber = 1", "torch.fx?", "files = !ls", "draw(fx.symbolic_trace(nn.ReLU()))"]
    extra += ["print('x' * 10**6)", "raise SystemExit", "def (:", ""]
    cells: Cells = []
    for at, cell in enumerate(nb.cells):
        cells += [cell, v4.new_code_cell(extra[at % len(extra)]), v4.new_markdown_cell("My notes")]
    return cells


def all_but_the_answers_deleted(nb: NotebookNode) -> Cells:
    return [cell for cell in nb.cells if cell.cell_type == "code" and not cell.source.startswith("check(")]


def stubs_left_above(nb: NotebookNode) -> Cells:
    cells: Cells = []
    for cell in nb.cells:
        if name := _homes().get(cell.id):
            cells.append(v4.new_code_cell(f"def {catalogue()[name].answer}(*_):\n    return None"))
        cells.append(cell)
    return cells


def stubs_left_below(nb: NotebookNode) -> Cells:
    """Put the answer into a separate cell above the stub."""
    cells: Cells = []
    for cell in nb.cells:
        cells.append(cell)
        if name := _homes().get(cell.id):
            printed = _printed("exercises", catalogue()[name].chapter).cells
            cells += [v4.new_code_cell(stub.source) for stub in printed if stub.id == cell.id]
    return cells


def cells_turned_round(nb: NotebookNode) -> Cells:
    return nb.cells[::-1]


def a_cell_that_never_ends(nb: NotebookNode) -> Cells:
    return [*nb.cells[:2], v4.new_code_cell("input()\nimport os\nos._exit(0)"), *nb.cells[2:]]


def _of_cells(change: Callable[[NotebookNode], Cells]) -> Shape:
    def shape(nb: NotebookNode) -> tuple[str, bytes]:
        nb.cells = change(nb)
        return ".ipynb", as_bytes(nb)

    return shape


def untouched(nb: NotebookNode) -> tuple[str, bytes]:
    return ".ipynb", as_bytes(nb)


def cells_doubled(nb: NotebookNode) -> tuple[str, bytes]:
    nb.cells = [copy.deepcopy(cell) for cell in nb.cells for _ in range(2)]
    return ".ipynb", json.dumps(nb).encode()  # Keep duplicate ids, which nbformat would fix.


def metadata_added(nb: NotebookNode) -> tuple[str, bytes]:
    nb.metadata["colab"] = {"provenance": [{"file_id": "1", "timestamp": 1}] * 50}
    for cell in nb.cells:
        cell.metadata.update({"collapsed": True, "tags": ["a"], "nbgrader": {"grade": "x"}, "id": "y", "x": [[[1]]]})
    return ".ipynb", as_bytes(nb)


def no_metadata_and_no_ids(nb: NotebookNode) -> tuple[str, bytes]:
    cells = [{"cell_type": cell.cell_type, "source": cell.source} for cell in nb.cells]
    return ".ipynb", json.dumps({"nbformat": 4, "nbformat_minor": 5, "cells": cells}).encode()


def exported_script(nb: NotebookNode) -> tuple[str, bytes]:
    """As written by ``jupyter nbconvert --to script``."""
    texts = ["#!/usr/bin/env python\n# coding: utf-8\n"]
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            texts.append("".join(f"# {line}\n" for line in cell.source.splitlines()))
        else:
            texts.append(f"# In[ ]:\n\n\nget_ipython().run_line_magic('time', '')\n{cell.source}\n")
    return ".py", "\n\n".join(texts).encode()


def zipped(nb: NotebookNode) -> tuple[str, bytes]:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("week 2/exercises/notebook.ipynb", as_bytes(nb))
        archive.writestr("__MACOSX/week 2/exercises/._notebook.ipynb", b"\0\5\26\7")
        archive.writestr("week 2/exercises/.ipynb_checkpoints/notebook-checkpoint.ipynb", b"{}")
        archive.writestr("week 2/exercises/fxbook/tasks/02_x/put_in_order/check.py", b"check('02-put-in-order', 1)")
    return ".zip", data.getvalue()


# Changes that affect no mark: each returns the suffix of the file and its bytes.
SHAPES: dict[str, Shape] = {
    "untouched": untouched,
    "cells_added": _of_cells(cells_added),
    "all_but_the_answers_deleted": _of_cells(all_but_the_answers_deleted),
    "cells_doubled": cells_doubled,
    **{
        change.__name__: _of_cells(change)
        for change in (stubs_left_above, stubs_left_below, cells_turned_round, a_cell_that_never_ends)
    },
    "metadata_added": metadata_added,
    "no_metadata_and_no_ids": no_metadata_and_no_ids,
    "format_3": lambda nb: (".ipynb", json.dumps(nbformat.convert(nb, 3)).encode()),
    "newer_format": lambda nb: (".ipynb", json.dumps({**nb, "nbformat_minor": 42, "future": {"x": 1}}).encode()),
    "byte_order_mark": lambda nb: (".ipynb", nbformat.writes(nb).encode("utf-8-sig")),
    "utf_16": lambda nb: (".ipynb", nbformat.writes(nb).encode("utf-16")),
    "percent_script": lambda nb: (".py", jupytext.writes(nb, fmt="py:percent").encode()),
    "exported_script": exported_script,
    "renamed": lambda nb: (" final (really).ipynb", as_bytes(nb)),
    "saved_as_text": lambda nb: (".ipynb.txt", as_bytes(nb)),
    "zipped": zipped,
}


def damaged(nb: NotebookNode) -> tuple[str, bytes]:
    """Half a file, which cannot be read."""
    data = as_bytes(nb)
    return ".ipynb", data[: len(data) // 2]


# ---- a class ---------------------------------------------------------------------------------------------------------

_SURNAMES = ("Müller", "O'Neill", "van den Berg", "Şahin", "李", "García Lorca", "Smith-Jones", "Ångström", "Nguyễn")
_NAMES = ("Anna", "José", "Zoë", "Björn", "小明", "Mary Ann", "Łukasz", "D'Arcy")


@dataclasses.dataclass(frozen=True)
class Student:
    """A made-up student: name, what was done to the notebooks, and the answers by exercise."""

    name: str
    shape: str
    answers: Mapping[str, Answer]
    damaged: bool = False


def make(folder: Path, count: int, exercises: Iterable[str], *, seed: int = 0, system: str = "moodle") -> list[Student]:
    """Write the submissions of a class, and return the students.

    Args:
        folder: the folder to write to.
        count: the number of students. A class as large as :data:`SHAPES` has every shape, and one file in a hundred is
            damaged.
        exercises: ids; other exercises of their chapters stay unchanged.
        seed: chooses answers.
        system: the naming scheme: ``"moodle"``, ``"canvas"`` or ``"plain"``.
    """
    chosen = list(exercises)
    draw = random.Random(seed)
    shapes = list(SHAPES)
    students = []
    for number in range(count):
        broken = number % 100 == 99
        shaped = shapes[number % len(shapes)]
        answers = {exercise: _draw(exercise, draw) for exercise in chosen}
        name = f"{_SURNAMES[number % len(_SURNAMES)]} {_NAMES[number // 9 % len(_NAMES)]} {number}"
        if system == "canvas":
            name = "".join(char for char in name.lower() if char.isalnum())
        for chapter in dict.fromkeys(catalogue()[exercise].chapter for exercise in chosen):
            suffix, data = (damaged if broken else SHAPES[shaped])(notebook(chapter, answers))
            stem = "homework" + chapter[1] if shaped in ("renamed", "zipped") and not broken else chapter
            _hand_in(folder, system, number, name, f"{stem}{suffix}", data)
            if number % 10 == 3:
                earlier, wrong = untouched(notebook(chapter, {}))
                _hand_in(folder, system, number, name, f"{chapter}{earlier}", wrong, first_of_two=True)
        students.append(Student(name, shaped, answers, broken))
    return students


def _draw(exercise_id: str, draw: random.Random) -> Answer:
    """Usually right, often wrong, sometimes not begun."""
    chance = draw.random()
    if chance < 0.3:
        return solution(exercise_id)
    right = [answer for answer in answers(exercise_id) if not answer.rule]
    wrong = [answer for answer in answers(exercise_id) if answer.rule]
    return draw.choice(right) if chance < 0.6 else draw.choice(wrong) if chance < 0.9 else Answer(None, "any")


def _hand_in(
    folder: Path, system: str, number: int, name: str, file: str, data: bytes, first_of_two: bool = False
) -> None:
    if system == "canvas":
        late = "LATE_" if number % 7 == 0 else ""
        stem, dot, suffix = file.partition(".")
        again = "" if first_of_two or number % 10 != 3 else "-1"
        place = folder / f"{name}_{late}{1000 + number}_{5000 + number}_{stem}{again}{dot}{suffix}"
    else:
        spelled = unicodedata.normalize("NFD" if number % 2 else "NFC", name)
        home = folder / (f"{spelled}_{1000 + number}_assignsubmission_file_" if system == "moodle" else spelled)
        attempt = "attempt 1" if first_of_two else "attempt 2" if number % 10 == 3 else ""
        place = home / attempt / file
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


def rows(marks: Iterable[Any]) -> dict[tuple[str, str], Any]:
    """Marks by student and exercise; each must be unique."""
    table: dict[tuple[str, str], Any] = {}
    for mark in marks:
        assert (mark.student, mark.exercise) not in table, f"twice: {mark.student}, {mark.exercise}"
        table[mark.student, mark.exercise] = mark
    return table
