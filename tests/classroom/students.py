"""A class for tests and benchmarks: what students hand in, in every shape that a grader meets, and what belongs to it.

Answers come from ``solutions/`` and the folders of the exercises, the rest of a notebook from ``exercises/``. The same
seed makes the same class.
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

from fxbook.learning.exercises import catalogue
from fxbook.learning.sheets import Sheet
from fxbook.tasks import folder_of
from fxbook.tasks.answering import answers_to
from press import ROOT

Cells = list[NotebookNode]


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a student wrote for an exercise, and the rule that it violates, ``""`` where it is right.

    ``source`` is ``None`` for an exercise that was left as it was handed out.
    """

    source: str | None
    rule: str = ""


# ---- answers ---------------------------------------------------------------------------------------------------------


@functools.cache
def solution(exercise_id: str) -> Answer:
    """The answer of the book."""
    cells = {cell.id: cell.source for cell in _printed("solutions", catalogue()[exercise_id].chapter).cells}
    return Answer(next(cells[cell] for cell, name in _homes().items() if name == exercise_id))


@functools.cache
def _homes() -> Mapping[str, str]:
    """The exercises by the ids of the cells in which their answers are to be written."""
    return {
        cell.id: about.id
        for about in catalogue().values()
        for cell in _printed("exercises", about.chapter).cells
        if cell.id.startswith(f"{about.id}-code") and re.search(rf"^(def|class) {about.answer}\b", cell.source, re.M)
    }


@functools.cache
def stub(exercise_id: str) -> Answer:
    """The exercise as it was handed out."""
    return Answer(None, "any")


@functools.cache
def answers(exercise_id: str) -> tuple[Answer, ...]:
    """The known answers to an exercise, right ones first, each with all that it needs from its file.

    Left out are those that never end, which take seconds, and those that are no function or class by themselves.
    """
    tree = ast.parse((folder_of(exercise_id) / "answers.py").read_text(encoding="utf-8"))
    cells, named = [], set()
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "fxbook.tasks.answering":
            continue
        if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.decorator_list:
            decorators = [ast.unparse(one) for one in statement.decorator_list]
            kept = [
                one
                for one, told in zip(statement.decorator_list, decorators, strict=True)
                if not re.match(r"(right|wrong)\b", told)
            ]
            if len(kept) < len(decorators):
                named.add(statement.name)
            statement.decorator_list = kept
        cells.append(ast.unparse(statement))
    sheet = Sheet(Path(f"{exercise_id}.py"), tuple(cells))
    name = catalogue()[exercise_id].answer
    found = []
    for told in answers_to(exercise_id):
        if told.name in named and "still running" not in told.says:
            needed = [cell for cell in sheet.only_for(told.name).cells if cell]
            renamed = [] if told.name == name else [f"{name} = {told.name}"]
            found.append(Answer("\n\n\n".join(needed + renamed), told.violated))
    return tuple(sorted(found, key=lambda one: bool(one.rule)))


# ---- notebooks -------------------------------------------------------------------------------------------------------


@functools.cache
def _printed(folder: str, chapter: str) -> NotebookNode:
    return nbformat.read(ROOT / folder / f"{chapter}.ipynb", as_version=4)


def notebook(chapter: str, given: Mapping[str, Answer]) -> NotebookNode:
    """The exercise notebook of a chapter with these answers, by exercise, in place of their stubs."""
    made = copy.deepcopy(_printed("exercises", chapter))
    for cell in made.cells:
        answer = given.get(_homes().get(cell.id, ""))
        if answer and answer.source is not None:
            cell.source = answer.source
    return made


def as_bytes(made: NotebookNode) -> bytes:
    """As Jupyter saves it."""
    return nbformat.writes(made).encode()


def from_cells(cells: Iterable[str]) -> bytes:
    """A notebook of these code cells."""
    numbered = [v4.new_code_cell(cell, id=f"cell-{number}") for number, cell in enumerate(cells)]
    return as_bytes(v4.new_notebook(cells=numbered))


# ---- what students do to them ----------------------------------------------------------------------------------------

Shape = Callable[[NotebookNode], tuple[str, bytes]]
SHAPES: dict[str, Shape] = {}


def shape(function: Shape) -> Shape:
    """A way to change a notebook that changes no mark: gives the suffix of the file and its bytes."""
    SHAPES[function.__name__] = function
    return function


@shape
def untouched(made: NotebookNode) -> tuple[str, bytes]:
    return ".ipynb", as_bytes(made)


@shape
def cells_added(made: NotebookNode) -> tuple[str, bytes]:
    extra = [
        "1 / 0",
        "%matplotlib inline\nimport os",
        "!ls -l",
        "%%bash\nfor f in *; do echo $f; done",
        "%%time\nnumber = 1",
        "torch.fx?",
        "files = !ls",
        "draw(fx.symbolic_trace(nn.ReLU()))",
        "print('x' * 10**6)",
        "raise SystemExit",
        "def (:",
        "",
    ]
    cells: Cells = []
    for at, cell in enumerate(made.cells):
        cells += [cell, v4.new_code_cell(extra[at % len(extra)]), v4.new_markdown_cell("My notes")]
    made.cells = cells
    return ".ipynb", as_bytes(made)


@shape
def all_but_the_answers_deleted(made: NotebookNode) -> tuple[str, bytes]:
    made.cells = [cell for cell in made.cells if cell.cell_type == "code" and not cell.source.startswith("check(")]
    return ".ipynb", as_bytes(made)


@shape
def cells_doubled(made: NotebookNode) -> tuple[str, bytes]:
    made.cells = [copy.deepcopy(cell) for cell in made.cells for _ in range(2)]
    return ".ipynb", json.dumps(made).encode()  # With the ids twice, which nbformat would mend.


@shape
def stubs_left_above(made: NotebookNode) -> tuple[str, bytes]:
    cells: Cells = []
    for cell in made.cells:
        if name := _homes().get(cell.id):
            cells.append(v4.new_code_cell(f"def {catalogue()[name].answer}(*_):\n    return None"))
        cells.append(cell)
    made.cells = cells
    return ".ipynb", as_bytes(made)


@shape
def stubs_left_below(made: NotebookNode) -> tuple[str, bytes]:
    """The answer in a cell of its own above the stub."""
    cells: Cells = []
    for cell in made.cells:
        cells.append(cell)
        if name := _homes().get(cell.id):
            printed = next(one for one in _printed("exercises", catalogue()[name].chapter).cells if one.id == cell.id)
            cells.append(v4.new_code_cell(printed.source))
    made.cells = cells
    return ".ipynb", as_bytes(made)


@shape
def cells_turned_round(made: NotebookNode) -> tuple[str, bytes]:
    made.cells = made.cells[::-1]
    return ".ipynb", as_bytes(made)


@shape
def a_cell_that_never_ends(made: NotebookNode) -> tuple[str, bytes]:
    made.cells.insert(2, v4.new_code_cell("input()\nimport os\nos._exit(0)"))
    return ".ipynb", as_bytes(made)


@shape
def metadata_added(made: NotebookNode) -> tuple[str, bytes]:
    made.metadata["colab"] = {"provenance": [{"file_id": "1", "timestamp": 1}] * 50}
    for cell in made.cells:
        cell.metadata.update({"collapsed": True, "tags": ["a"], "nbgrader": {"grade": "x"}, "id": "y", "x": [[[1]]]})
    return ".ipynb", as_bytes(made)


@shape
def no_metadata_and_no_ids(made: NotebookNode) -> tuple[str, bytes]:
    cells = [{"cell_type": cell.cell_type, "source": cell.source} for cell in made.cells]
    return ".ipynb", json.dumps({"nbformat": 4, "nbformat_minor": 5, "cells": cells}).encode()


@shape
def format_3(made: NotebookNode) -> tuple[str, bytes]:
    return ".ipynb", json.dumps(nbformat.convert(made, 3)).encode()


@shape
def newer_format(made: NotebookNode) -> tuple[str, bytes]:
    newer = {**made, "nbformat_minor": 42, "future": {"x": 1}}
    return ".ipynb", json.dumps(newer).encode()


@shape
def byte_order_mark(made: NotebookNode) -> tuple[str, bytes]:
    return ".ipynb", nbformat.writes(made).encode("utf-8-sig")


@shape
def utf_16(made: NotebookNode) -> tuple[str, bytes]:
    return ".ipynb", nbformat.writes(made).encode("utf-16")


@shape
def percent_script(made: NotebookNode) -> tuple[str, bytes]:
    return ".py", jupytext.writes(made, fmt="py:percent").encode()


@shape
def exported_script(made: NotebookNode) -> tuple[str, bytes]:
    """As ``jupyter nbconvert --to script`` writes it."""
    texts = ["#!/usr/bin/env python\n# coding: utf-8\n"]
    for cell in made.cells:
        if cell.cell_type == "markdown":
            texts.append("".join(f"# {line}\n" for line in cell.source.splitlines()))
        else:
            texts.append(f"# In[ ]:\n\n\nget_ipython().run_line_magic('time', '')\n{cell.source}\n")
    return ".py", "\n\n".join(texts).encode()


@shape
def renamed(made: NotebookNode) -> tuple[str, bytes]:
    return " final (really).ipynb", as_bytes(made)


@shape
def saved_as_text(made: NotebookNode) -> tuple[str, bytes]:
    return ".ipynb.txt", as_bytes(made)


@shape
def zipped(made: NotebookNode) -> tuple[str, bytes]:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("week 2/exercises/notebook.ipynb", as_bytes(made))
        archive.writestr("__MACOSX/week 2/exercises/._notebook.ipynb", b"\0\5\26\7")
        archive.writestr("week 2/exercises/.ipynb_checkpoints/notebook-checkpoint.ipynb", b"{}")
        archive.writestr("week 2/exercises/fxbook/tasks/02_x/put_in_order/check.py", b"check('02-put-in-order', 1)")
    return ".zip", data.getvalue()


def damaged(made: NotebookNode) -> tuple[str, bytes]:
    """Half a file: no answer in it can be read."""
    data = as_bytes(made)
    return ".ipynb", data[: len(data) // 2]


# ---- a class ---------------------------------------------------------------------------------------------------------

_SURNAMES = ("Müller", "O'Neill", "van den Berg", "Şahin", "李", "García Lorca", "Smith-Jones", "Ångström", "Nguyễn")
_NAMES = ("Anna", "José", "Zoë", "Björn", "小明", "Mary Ann", "Łukasz", "D'Arcy")


@dataclasses.dataclass(frozen=True)
class Student:
    """A student that was made: the name, what was done to the notebooks, and of each exercise the answer."""

    name: str
    shape: str
    answers: Mapping[str, Answer]
    damaged: bool = False


def make(folder: Path, count: int, exercises: Iterable[str], *, seed: int = 0, system: str = "moodle") -> list[Student]:
    """Write the submissions of a class and say what is in them.

    Args:
        folder: where to.
        count: how many students; each shape is there once the class is as large as :data:`SHAPES`, and among each
            hundred is one whose file is damaged.
        exercises: their ids; other exercises of the chapters are left as they are handed out.
        seed: chooses answers.
        system: ``"moodle"``, ``"canvas"`` or ``"plain"``: how the folder looks.
    """
    chosen = list(exercises)
    draw = random.Random(seed)
    shapes = list(SHAPES)
    made = []
    for number in range(count):
        broken = number % 100 == 99
        shaped = shapes[number % len(shapes)]
        given = {one: _draw(one, draw) for one in chosen}
        name = f"{_SURNAMES[number % len(_SURNAMES)]} {_NAMES[number // 9 % len(_NAMES)]} {number}"
        if system == "canvas":
            name = "".join(char for char in name.lower() if char.isalnum())
        for chapter in dict.fromkeys(catalogue()[one].chapter for one in chosen):
            suffix, data = (damaged if broken else SHAPES[shaped])(notebook(chapter, given))
            stem = "homework" + chapter[1] if shaped in ("renamed", "zipped") and not broken else chapter
            _hand_in(folder, system, number, name, f"{stem}{suffix}", data)
            if number % 10 == 3:
                earlier, wrong = untouched(notebook(chapter, {}))
                _hand_in(folder, system, number, name, f"{chapter}{earlier}", wrong, first_of_two=True)
        made.append(Student(name, shaped, given, broken))
    return made


def _draw(exercise_id: str, draw: random.Random) -> Answer:
    """Mostly right, often wrong, sometimes not begun."""
    chance = draw.random()
    if chance < 0.3:
        return solution(exercise_id)
    right = [one for one in answers(exercise_id) if not one.rule]
    wrong = [one for one in answers(exercise_id) if one.rule]
    return draw.choice(right) if chance < 0.6 else draw.choice(wrong) if chance < 0.9 else stub(exercise_id)


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
        place = (
            (home / "attempt 1" / file)
            if first_of_two
            else (home / "attempt 2" / file if number % 10 == 3 else home / file)
        )
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


def rows(marks: Iterable[Any]) -> dict[tuple[str, str], Any]:
    """Marks by student and exercise.

    Raises:
        AssertionError: a row is there twice.
    """
    found: dict[tuple[str, str], Any] = {}
    for mark in marks:
        assert (mark.student, mark.exercise) not in found, f"twice: {mark.student}, {mark.exercise}"
        found[mark.student, mark.exercise] = mark
    return found
