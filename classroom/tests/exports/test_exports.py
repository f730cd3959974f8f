"""Assignments exported to nbgrader are valid there and give the same marks."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import nbformat
import pytest

from classroom.assignment import of_chapters
from classroom.exports import ExportError, nbgrader
from classroom.handout import leaks
from classroom.tests.handing_in import (
    CHAPTER,
    CLASS,
    HIDDEN,
    an_assignment,
    graded_by_nbgrader,
    graded_by_us,
    needs_nbgrader,
)
from press.book import the_book

# ---- nbgrader --------------------------------------------------------------------------------------------------------


@needs_nbgrader
@pytest.mark.parametrize("chapter", [CHAPTER, "01_node_creation", "08_boxed_run"])
def test_source_version_is_valid_and_solved(chapter: str) -> None:
    from nbgrader.nbgraderformat import MetadataValidator

    assignment = dataclasses.replace(of_chapters([chapter]), hidden=HIDDEN)
    notebook = nbgrader.notebook(assignment, chapter)
    nbformat.validate(notebook)
    MetadataValidator().validate_nb(notebook)
    plain = [line_free(cell.source) for cell in notebook.cells if cell.cell_type == "code"]
    sheet = the_book().sheet_of(chapter)
    solved = [cell.source for exercise in sheet.exercises for cell in exercise.solution]
    assert [source for source in solved if source not in plain] == []
    points = [
        cell.metadata.nbgrader.points for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")
    ]
    assert sum(points) == sum(assignment.points.values())


def line_free(source: str) -> str:
    return "\n".join(line for line in source.split("\n") if not line.strip().startswith("### "))


def test_each_exercise_is_one_graded_cell() -> None:
    assignment = an_assignment()
    graded = {
        cell.metadata.nbgrader.grade_id: cell
        for cell in nbgrader.notebook(assignment, CHAPTER).cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }
    for about in assignment.exercises:
        worth = assignment.points[about.id]
        public, hidden = graded.pop(about.id), graded.pop(f"{about.id}-hidden")
        assert (public.metadata.nbgrader.points, hidden.metadata.nbgrader.points) == (worth / 2, worth / 2)
        assert public.source == f'from fxbook import check\n\nassert check("{about.id}", {about.answer}).passed'
        # The teacher's text is only in the exercise that it is for.
        assert ("WithExtra" in hidden.source) == (about.id == "00-layers-in-order")
    assert graded == {}


@needs_nbgrader
def test_nbgrader_gives_the_same_marks(tmp_path: Path) -> None:
    theirs, ours = graded_by_nbgrader(tmp_path, CLASS), graded_by_us(tmp_path / "submitted")
    # nbgrader runs a notebook from top to bottom, so it misses an answer below its check.
    assert theirs.pop(("cells_moved", "00-readers")) == 0 and ours.pop(("cells_moved", "00-readers")) == 1
    assert theirs == ours
    assert theirs["overfitted", "00-layers-in-order"] == 0.5 and theirs["overfitted", "00-readers"] == 1
    released = (tmp_path / "release" / "week-1" / f"{CHAPTER}.ipynb").read_text(encoding="utf-8")
    assert leaks.find({f"exercises/{CHAPTER}.ipynb": without_metadata(released)}, HIDDEN) == []
    source = (tmp_path / "source" / "week-1" / f"{CHAPTER}.ipynb").read_text(encoding="utf-8")
    leaked = {leak.what for leak in leaks.find({f"exercises/{CHAPTER}.ipynb": without_metadata(source)}, HIDDEN)}
    assert "contains part of the hidden variants" in leaked and len(leaked) > 5


def without_metadata(text: str) -> bytes:
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    return json.dumps(notebook).encode()


def test_course_is_not_overwritten_by_accident(tmp_path: Path) -> None:
    source = nbgrader.write(an_assignment(), tmp_path)
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    with pytest.raises(ExportError, match=r"week-1 exists already: add --force"):
        nbgrader.write(an_assignment(), tmp_path)
    nbgrader.write(an_assignment(), tmp_path, force=True)
    assert [path.name for path in source.iterdir()] == [f"{CHAPTER}.ipynb"]
    assert (tmp_path / "nbgrader_config.py").read_text() == "c = get_config()\n"
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportError, match="cannot be written"):
        nbgrader.write(an_assignment(), tmp_path / "file")


def test_missing_nbgrader_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nbgrader.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ExportError, match="run `nbgrader generate_assignment week-1`"):
        nbgrader.make_release(tmp_path / "source" / "week-1")


@needs_nbgrader
def test_nbgrader_errors_are_one_line(tmp_path: Path) -> None:
    source = nbgrader.write(an_assignment(), tmp_path)
    notebook = json.loads((source / f"{CHAPTER}.ipynb").read_text())
    graded = [cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("grade")]
    graded[1]["metadata"]["nbgrader"]["grade_id"] = graded[0]["metadata"]["nbgrader"]["grade_id"]
    (source / f"{CHAPTER}.ipynb").write_text(json.dumps(notebook))
    with pytest.raises(ExportError, match=r"nbgrader rejects the source version: .*Duplicate grade id") as raised:
        nbgrader.make_release(source)
    assert "\n" not in str(raised.value)
