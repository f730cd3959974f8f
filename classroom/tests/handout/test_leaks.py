"""No solution or hidden case reaches a student, and anything planted in a release is found."""

from __future__ import annotations

import ast
import dataclasses
import io
import json
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import nbformat
import pytest

from classroom.assignment import of_chapters
from classroom.handout import leaks, release
from classroom.tests.handing_in import HIDDEN
from fxbook.catalogue import catalogue
from press import ROOT
from press.book import the_book

Files = dict[str, bytes]


@pytest.fixture(scope="module")
def files() -> Files:
    return release.files(dataclasses.replace(of_chapters(["02", "03"]), hidden=HIDDEN))


SHEETS = the_book().sheets()
SOLUTIONS = {
    exercise.id: "\n".join(
        solution.source
        for stub, solution in zip(exercise.stub, exercise.solution, strict=True)
        if stub.source != solution.source
    )
    for sheet in SHEETS
    for exercise in sheet.exercises
}
SOLUTION = SOLUTIONS["02-put-in-order"]


def test_release_leaks_nothing(files: Files) -> None:
    assert leaks.find(files, HIDDEN) == []


def test_printed_exercises_leak_nothing() -> None:
    printed = sorted((ROOT / "exercises").glob("*.ipynb"))
    assert len(printed) == len({about.chapter for about in catalogue().values()})
    linked = ("](../solutions/", "](../chapters/")
    assert leaks.find({f"exercises/{path.name}": path.read_bytes() for path in printed}, HIDDEN) == []
    assert all(link in path.read_text(encoding="utf-8") for path in printed for link in linked)


def is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


NOTEBOOK = "exercises/02_insertion_points.ipynb"
INDEX = "exercises/fxbook/exercises.json"
Plant = Callable[[Files], None]


def in_notebook(change: Callable[[Any], None]) -> Plant:
    def plant(files: Files) -> None:
        notebook = json.loads(files[NOTEBOOK])
        change(notebook)
        files[NOTEBOOK] = json.dumps(notebook).encode()

    return plant


def code(notebook: Any) -> Any:
    return next(cell for cell in notebook["cells"] if "def put_in_order" in "".join(cell["source"]))


def appended(name: str, text: str) -> Plant:
    def plant(files: Files) -> None:
        files[name] = files[name] + text.encode()

    return plant


def added(name: str, data: bytes) -> Plant:
    def plant(files: Files) -> None:
        files[name] = data

    return plant


def in_index(change: Callable[[Any], None]) -> Plant:
    def plant(files: Files) -> None:
        index = json.loads(files[INDEX])
        change(index["02-put-in-order"])
        files[INDEX] = json.dumps(index).encode()

    return plant


def reformatted(source: str) -> str:
    """The same code with other names and layout, without its docstring."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.name, node.body = f"my_{node.name}", [statement for statement in node.body if not is_text(statement)]
    return ast.unparse(tree)


def packed(name: str, text: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, text)
    return buffer.getvalue()


WHY = next(e.why for sheet in SHEETS for e in sheet.exercises if e.id == "02-put-in-order")
LINE = max((line.strip() for line in SOLUTION.splitlines()), key=len)
STREAM = {"output_type": "stream", "name": "stdout", "text": SOLUTION.splitlines(keepends=True)}
PLANTS: dict[str, Plant] = {
    "a cell": in_notebook(lambda nb: code(nb).update(source=SOLUTION)),
    "a cell, in another layout": in_notebook(lambda nb: code(nb).update(source=reformatted(SOLUTION))),
    "a line of a cell": in_notebook(lambda nb: code(nb).update(source=f"# {LINE}")),
    "a text cell": in_notebook(lambda nb: nb["cells"][0].update(source=f"```python\n{SOLUTION}\n```")),
    "the explanation": in_notebook(lambda nb: nb["cells"][0].update(source=WHY)),
    "a cell's metadata": in_notebook(lambda nb: code(nb).update(metadata={"note": SOLUTION})),
    "a tag": in_notebook(lambda nb: code(nb).update(metadata={"tags": [LINE]})),
    "the notebook's metadata": in_notebook(lambda nb: nb["metadata"].update(title=LINE)),
    "an output": in_notebook(lambda nb: code(nb).update(outputs=[STREAM])),
    "an output that is empty": in_notebook(lambda nb: code(nb).update(execution_count=3)),
    "an attachment": in_notebook(lambda nb: nb["cells"][0].update(attachments={"a.txt": {"text/plain": SOLUTION}})),
    "a field of the notebook": in_notebook(lambda nb: nb.update(history=[SOLUTION])),
    "a mark of the manuscript": in_notebook(lambda nb: code(nb).update(source="def f():\n    # solution\n    pass")),
    "a hint in the index": in_index(lambda entry: entry["hints"].append(SOLUTION)),
    "a new field in the index": in_index(lambda entry: entry.update(solution=SOLUTION)),
    "a function of the library": appended("exercises/fxbook/graph/naming.py", f"\n\n{SOLUTION}\n"),
    "a function of the library, in another layout": appended("exercises/fxbook/graph/naming.py", reformatted(SOLUTION)),
    "a comment of the library": appended("exercises/fxbook/graph/naming.py", "\n# ".join(["", *SOLUTION.splitlines()])),
    "a text in the library": appended("exercises/fxbook/graph/naming.py", f"\nX = {SOLUTION!r}\n"),
    "the text of an exercise": added("exercises/fxbook/tasks/02_insertion_points/put_in_order/task.md", b"pass"),
    "a new module of the library": added("exercises/fxbook/asking/more.py", SOLUTION.encode()),
    "the script of the pages": appended("exercises/fxbook/static/stepper.js", f"\n/* {SOLUTION} */"),
    "the handout": appended("handout.html", f"<!-- {SOLUTION} -->"),
    "the handout as text": appended("handout.md", SOLUTION),
    "the read-me": appended("README.md", LINE),
    "the pins": appended("requirements.txt", f"# {LINE}\n"),
    "a hidden case in the library": appended("exercises/fxbook/tasks/02_insertion_points/cases.py", HIDDEN),
    "a hidden case in a cell": in_notebook(lambda nb: code(nb).update(source=HIDDEN)),
    "a hidden case in the read-me": appended("README.md", HIDDEN.split("\n\n\n")[1]),
    "the hidden file": added("hidden.py", HIDDEN.encode()),
    "the notebook of solutions": added("solutions/02_insertion_points.ipynb", b"{}"),
    "the answers of the tests": added("exercises/fxbook/tasks/02_insertion_points/put_in_order/answers.py", b"pass"),
    "the answers of the tests, in the library": added("exercises/fxbook/answers/put_in_order.py", b"pass"),
    "the press": added("press/printing/derive.py", b"pass"),
    "the manuscript": added("exercises/fxbook/tasks/02_insertion_points/put_in_order/task.md", b"text"),
    "an object of git": added(".git/objects/ab/cdef0123", zlib.compress(SOLUTION.encode())),
    "a compiled module": added("exercises/fxbook/__pycache__/naming.cpython-311.pyc", b"\0"),
    "a checkpoint": added("exercises/.ipynb_checkpoints/02_insertion_points-checkpoint.ipynb", b"{}"),
    "a zip": added("exercises/more.zip", packed("02.py", SOLUTION)),
    "a zip by another name": added("exercises/fxbook/graph/naming.py", packed("02.py", SOLUTION)),
}


@pytest.mark.parametrize("place", PLANTS)
def test_planted_leaks_are_found(place: str, files: Files) -> None:
    planted = dict(files)
    PLANTS[place](planted)
    changed = {name: data for name, data in planted.items() if data != files.get(name)}
    assert {leak.file for leak in leaks.find(changed, HIDDEN)} == set(changed) != set()


@pytest.mark.parametrize("identity", SOLUTIONS)
def test_every_solution_is_found_in_every_place(identity: str, files: Files) -> None:
    solution = SOLUTIONS[identity]
    note = nbformat.v4.new_notebook(metadata=json.loads(files[NOTEBOOK])["metadata"])
    note.cells = [nbformat.v4.new_markdown_cell(f"```python\n{solution}\n```")]
    comment = "\n".join(f"# {line}" for line in solution.splitlines())
    planted = {
        NOTEBOOK: nbformat.writes(note).encode(),
        "exercises/fxbook/graph/naming.py": files["exercises/fxbook/graph/naming.py"] + f"\n{comment}\n".encode(),
        "exercises/fxbook/errors.py": reformatted(solution).encode(),
    }
    leaked = leaks.find(planted)
    assert {leak.file for leak in leaked} == set(planted)
    # Code that two solutions share is reported for the first one.
    assert any(identity in str(leak) for leak in leaked)
