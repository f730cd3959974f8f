"""A small class, and its marks from nbgrader and from our grader."""

from __future__ import annotations

import copy
import dataclasses
import importlib.util
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from classroom.assignment import Assignment, of_chapters
from classroom.collect import submissions
from classroom.exports import nbgrader
from classroom.grade import work
from classroom.grade.jobs import jobs_of
from press.book import the_book

CHAPTER = "00_first_graph"
# Passes the public checks, whose models have no layer of this name.
OVERFITTED = """
def layers_in_order(model):
    graph = fx.symbolic_trace(model).graph
    return [node.target for node in graph.nodes if node.op == "call_module" and node.target != "extra"]
"""
WRONG = "def layers_in_order(model):\n    return [name for name, _ in model.named_children()]"
HIDDEN = '''
import torch
from torch import nn

from fxbook.cases import Case

SEEDS = 1


class WithExtra(nn.Module):
    """Calls a layer twice, and one of a name that the public models do not use."""

    def __init__(self):
        super().__init__()
        self.extra = nn.Linear(4, 4)
        self.last = nn.Linear(4, 4)

    def forward(self, x):
        return self.last(self.extra(self.extra(x)))


CASES = {"00-layers-in-order": [Case("a model with an extra layer", WithExtra, lambda: (torch.randn(2, 4),))]}
'''
Change = Callable[[NotebookNode], None]


def place_of(notebook: NotebookNode, name: str) -> int:
    return next(i for i, cell in enumerate(notebook.cells) if re.search(rf"^(def|class) {name}\b", cell.source, re.M))


def answer(notebook: NotebookNode, source: str) -> None:
    name = re.search(r"^(?:def|class) (\w+)", source, re.M)
    assert name
    notebook.cells[place_of(notebook, name[1])].source = source.strip()


def cells_doubled(notebook: NotebookNode) -> None:
    """Repeat the answer and the cell below it; the first answer is wrong."""
    at = place_of(notebook, "layers_in_order")
    twice = copy.deepcopy(notebook.cells[at : at + 2])
    twice[0].source = WRONG
    for cell in twice:
        cell.id = f"{cell.id}-copy"
    notebook.cells[at:at] = twice


def check_deleted(notebook: NotebookNode) -> None:
    notebook.cells = [cell for cell in notebook.cells if "check(" not in cell.source]


def cells_moved(notebook: NotebookNode) -> None:
    """Move an answer below the cells that check it."""
    notebook.cells.append(notebook.cells.pop(place_of(notebook, "readers")))


def solved_and(change: Change) -> Change:
    """Write our solutions into the sheet, then change it."""

    def changed(notebook: NotebookNode) -> None:
        for exercise in the_book().sheet_of(CHAPTER).exercises:
            for stub, solution in zip(exercise.stub, exercise.solution, strict=True):
                if stub.source != solution.source:
                    answer(notebook, solution.source)
        change(notebook)

    return changed


CLASS: dict[str, Change] = {
    "overfitted": solved_and(lambda notebook: answer(notebook, OVERFITTED)),
    **{habit.__name__: solved_and(habit) for habit in (cells_doubled, check_deleted, cells_moved)},
}


def handed_in(handed_out: NotebookNode, change: Change) -> str:
    notebook = copy.deepcopy(handed_out)
    change(notebook)
    return nbformat.writes(notebook)


# ---- marks -----------------------------------------------------------------------------------------------------------

needs_nbgrader = pytest.mark.skipif(
    importlib.util.find_spec("nbgrader") is None,
    reason="nbgrader is not installed: pip install -r classroom/requirements.txt, to compare its marks with ours",
)
Marks = dict[tuple[str, str], float]


def an_assignment() -> Assignment:
    return dataclasses.replace(of_chapters([CHAPTER], "Week 1"), hidden=HIDDEN)


def graded_by_nbgrader(course: Path, students: Iterable[str]) -> Marks:
    """Make a course, hand in and grade; return the points by student and exercise."""
    source = nbgrader.write(an_assignment(), course)
    handed_out = nbformat.read(nbgrader.make_release(source) / f"{CHAPTER}.ipynb", 4)
    for student in students:
        path = course / "submitted" / student / source.name / f"{CHAPTER}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(handed_in(handed_out, CLASS[student]), encoding="utf-8")
    with (course / "nbgrader_config.py").open("a") as config:
        config.write("c.Execute.timeout = c.Execute.startup_timeout = 600\n")
        # Another process can take a free TCP port before a kernel binds it.
        config.write(f"c.KernelManager.transport, c.KernelManager.ip = 'ipc', {str(course / 'k')!r}\n")
    nbgrader.run(course, "autograde", source.name)
    return marks_of_nbgrader(course, source.name)


def marks_of_nbgrader(course: Path, name: str) -> Marks:
    """Read nbgrader's gradebook; add the points of hidden variants to their exercise."""
    from nbgrader.api import Gradebook

    marks: Marks = {}
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        for submission in gradebook.assignment_submissions(name):
            for grade in (grade for notebook in submission.notebooks for grade in notebook.grades):
                assert not grade.needs_manual_grade
                place = submission.student.id, grade.name.removesuffix("-hidden")
                marks[place] = marks.get(place, 0) + grade.score
    return marks


def graded_by_us(folder: Path) -> Marks:
    assignment = an_assignment()
    marks: Marks = {}
    try:
        for submission in submissions.find(folder, assignment):
            for mark in work.grade(*jobs_of([submission], assignment, trusted=True, seed=1)):
                assert mark["status"] != "error", mark
                marks[submission.student, mark["exercise"]] = mark["points"]
    finally:
        work.close()
    return marks
