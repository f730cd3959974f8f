"""Write an assignment as an nbgrader course: the source version with solutions, from which nbgrader makes the rest.

Each answer is a solution cell, and its check is a locked cell worth points, with the exercise id as its id. If there
are hidden variants, a second cell, ``ID-hidden``, is worth the remaining points.

nbgrader runs a submission with the grader's own rights and in the same process as the tests, so student code can read
everything there. Its feedback pages also show hidden tests. It runs a notebook from top to bottom, so it misses an
answer below its check; apart from that, its marks equal ours.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode, v4

from classroom.assignment import Assignment
from classroom.exports import ExportError
from classroom.grade import hidden
from classroom.handout import release
from fxbook.grading import About
from press.book import the_book
from press.printing.derive import UNSOLVED
from press.stored import serialised

SCHEMA_VERSION = 3
_MARK = re.compile(r"^(?P<indent> *)# (?P<name>stub|solution|end)$")
_REPORT = re.compile(rf"\A{re.escape(UNSOLVED)}\n\n```text\n.*?\n```\n\n", re.DOTALL)
_CONFIG = '''\
"""Configuration of the course; run nbgrader's commands in this folder."""

from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearOutput,
    DeduplicateIds,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
)


class MendCells(NbGraderPreprocessor):
    """Treat copied cells as plain cells, and restore deleted tests as empty cells at the end of the notebook.

    `OverwriteCells` fills them. Its own option for this fails on a notebook with copied cells (nbgrader 0.9.6).
    """

    def preprocess(self, nb, resources):
        for cell in nb.cells:
            if cell.metadata.get("nbgrader") == {{}}:
                del cell.metadata["nbgrader"]
        there = {{cell.metadata.get("nbgrader", {{}}).get("grade_id") for cell in nb.cells}}
        place = resources["nbgrader"]
        with Gradebook(place["db_url"]) as gradebook:
            for test in gradebook.find_notebook(place["notebook"], place["assignment"]).grade_cells:
                if test.name not in there:
                    data = {{"grade_id": test.name, "points": test.max_score, "cell_type": "code", "schema_version": 3}}
                    data |= {{"grade": True, "locked": True, "solution": False, "task": False}}
                    nb.cells.append(new_code_cell(metadata={{"nbgrader": data}}))
        return nb, resources


c = get_config()  # noqa: F821
c.CourseDirectory.course_id = {course!r}
c.Autograde.sanitize_preprocessors = [
    ClearOutput,
    DeduplicateIds,
    MendCells,
    OverwriteKernelspec,
    OverwriteCells,
    CheckCellMetadata,
]
# A check ends after 10 seconds, and a cell may contain several.
c.Execute.timeout = 120
c.ClearSolutions.code_stub = {{
    "python": 'raise NotImplementedError("Write your answer here, in place of this line.")',
}}
'''


def write(assignment: Assignment, folder: Path, *, force: bool = False) -> Path:
    """Write the course: its configuration and ``source/NAME/``, with one notebook for each chapter.

    Args:
        folder: the course. An existing course may have other assignments; its configuration is kept.
        force: replace an existing source version of this assignment.

    Returns:
        The folder of the source version; its name is the assignment's name in nbgrader.

    Raises:
        ExportError: the source version exists already, or the folder cannot be written.
        classroom.handout.release.ReleaseError: a notebook is not as generated, or needs an exercise that is left out.
        classroom.grade.hidden.HiddenError: the hidden variants cannot be used.
    """
    source = folder / "source" / release.folder_name(assignment)
    if source.exists() and not force:
        raise ExportError(f"{source} exists already: add --force to replace it, or change the assignment's title.")
    notebooks = {chapter: serialised(notebook(assignment, chapter)) for chapter in assignment.chapters}
    config = folder / "nbgrader_config.py"
    try:
        source.mkdir(parents=True, exist_ok=True)
        for old in source.glob("*.ipynb"):
            old.unlink()
        for chapter, text in notebooks.items():
            (source / f"{chapter}.ipynb").write_text(text, encoding="utf-8")
        if not config.exists():
            config.write_text(_CONFIG.format(course=release.folder_name(assignment)), encoding="utf-8")
    except OSError as error:
        raise ExportError(f"{folder} cannot be written ({error.strerror or error}): choose another folder.") from error
    return source


def make_release(source: Path) -> Path:
    """Let nbgrader make ``release/NAME/`` from a source version and record the points of each cell.

    Raises:
        ExportError: nbgrader is not installed, or rejects the source version.
    """
    if importlib.util.find_spec("nbgrader") is None:
        raise ExportError(
            "nbgrader is not installed here, so there is no release version yet. Where it is installed, run "
            f"`nbgrader generate_assignment {source.name}` in {source.parent.parent}."
        )
    course = source.parent.parent
    done = run(course, "generate_assignment", source.name, "--force")
    if done.returncode:
        raised = re.findall(r"^\s+(\w[\w.]*(?:Error|Exception)\b.*)", done.stderr, re.MULTILINE)
        raise ExportError(
            f"nbgrader rejects the source version: {(raised or done.stderr.strip().splitlines()[-1:])[0]}"
        )
    return course / "release" / source.name


def run(course: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # nbgrader starts alembic by name, which may be missing from the PATH.
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    command = [sys.executable, "-m", "nbgrader", *arguments]
    return subprocess.run(command, cwd=course, capture_output=True, text=True, env={**os.environ, "PATH": path})


def notebook(assignment: Assignment, chapter: str) -> NotebookNode:
    """The source version of a chapter's notebook.

    Raises:
        classroom.handout.release.ReleaseError: as for :func:`classroom.handout.release.notebook`.
        classroom.grade.hidden.HiddenError: the hidden variants cannot be used.
    """
    printed = release.notebook(assignment, chapter)
    solved = dict(_forms(chapter))
    exercises = [about for about in assignment.exercises if about.chapter == chapter]
    cells = []
    for cell in printed.cells:
        if cell.cell_type == "code" and cell.source in solved:
            identity = cell.id.replace("-code", "-answer")
            cell.source = solved[cell.source]
            cell.metadata.nbgrader = _metadata(identity, solution=True)
        elif cell.cell_type == "markdown":
            # The report in the notebook belongs to the book's stub; nbgrader's own stub raises an error instead.
            cell.source = _REPORT.sub("", cell.source)
        cells.append(cell)
        for about in exercises:
            if cell.source == f'check("{about.id}", {about.answer})':
                cells += _tests(assignment, about)
    printed.cells = cells
    return printed


def _forms(chapter: str) -> Iterator[tuple[str, str]]:
    """For each cell with a solution, its source as a stub and its source with both forms for nbgrader."""
    for code in (code for exercise in the_book().sheet_of(chapter).exercises for code in exercise.code):
        if not code.is_answer:
            continue
        both: list[str] = []
        state = "end"
        for line in code.written.source.split("\n"):
            if mark := _MARK.match(line):
                state = mark["name"]
                edge = {"solution": "BEGIN", "end": "END"}.get(state)
                both += [f"{mark['indent']}### {edge} SOLUTION"] if edge else []
            elif state != "stub":
                both.append(line)
        yield code.stub.source, "\n".join(both)


def _tests(assignment: Assignment, about: About) -> list[NotebookNode]:
    worth, share = assignment.points[about.id], assignment.public_share
    public = f'from fxbook import check\n\nassert check("{about.id}", {about.answer}).passed'
    variants = hidden.read(assignment.hidden)
    if not variants.seeds and about.id not in variants.exercises:
        return [_test(about.id, public, worth)]
    seeds = [number if seed is None else seed for number, seed in enumerate(variants.seeds, start=1)]
    source = _HIDDEN.format(id=about.id, answer=about.answer, seeds=seeds, cases=_cases(assignment, about, variants))
    return [_test(about.id, public, worth * share), _test(f"{about.id}-hidden", source, worth * (1 - share))]


def _cases(assignment: Assignment, about: About, variants: hidden.Hidden) -> str:
    if about.id not in variants.exercises:
        return ""
    text = "\n".join(f"        {line!r}" for line in assignment.hidden.splitlines(keepends=True))
    return _CASES.format(id=about.id, text=text)


def _test(identity: str, source: str, points: float) -> NotebookNode:
    metadata: dict[str, Any] = {"nbgrader": _metadata(identity, points=points)}
    return v4.new_code_cell(source=source, id=f"{identity}-graded", metadata=nbformat.from_dict(metadata))


def _metadata(identity: str, *, solution: bool = False, points: float | None = None) -> dict[str, Any]:
    graded = points is not None
    metadata = {
        "schema_version": SCHEMA_VERSION,
        "grade_id": identity,
        "grade": graded,
        "solution": solution,
        "locked": graded,
        "task": False,
    }
    return nbformat.from_dict({**metadata, "points": points} if graded else metadata)


_HIDDEN = """\
# Hidden variants of {id}: they are added when this is graded.
### BEGIN HIDDEN TESTS
def hidden_variants(answer):
    from fxbook.checking import check, check_with
    from fxbook.tasks import find

    assert check("{id}", answer).passed
    for seed in {seeds}:
        assert check("{id}", answer, seed=seed).passed
{cases}

hidden_variants({answer})
### END HIDDEN TESTS"""
_CASES = """\
    hidden = {{"__name__": "hidden"}}
    exec(
{text},
        hidden,
    )
    assert check_with(find("{id}").on(hidden["CASES"]["{id}"]), answer).passed
"""
