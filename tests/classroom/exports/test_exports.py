"""Marks and assignments in the forms of nbgrader and Gradescope: valid there, and worth the same points."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import nbformat
import pytest

from classroom.assignment import load, of_chapters
from classroom.exports import ExportError, nbgrader
from classroom.exports.gradescope.autograder import as_toml, make_autograder
from classroom.exports.gradescope.results import results, write_results
from classroom.grade.hidden import HiddenError
from classroom.grade.records import UNSEEN, Mark
from classroom.handout import leaks, release
from classroom.sandbox import protection
from press.book import the_book
from tests.classroom.handing_in import (
    CHAPTER,
    CLASS,
    HIDDEN,
    an_assignment,
    graded_by_nbgrader,
    graded_by_us,
    handed_in,
    needs_nbgrader,
)

# ---- nbgrader --------------------------------------------------------------------------------------------------------


@needs_nbgrader
@pytest.mark.parametrize("chapter", [CHAPTER, "01_node_creation", "08_boxed_run"])
def test_the_source_version_is_valid_and_is_the_solution(chapter: str) -> None:
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
    """Without the lines that mark the solution."""
    return "\n".join(line for line in source.split("\n") if not line.strip().startswith("### "))


def test_lateness_is_taken_off_the_score_of_gradescope() -> None:
    assignment = of_chapters(["02"])
    [first, *_] = assignment.exercises
    worth = assignment.points[first.id]
    late = Mark("a", "A", first.id, "passed", points=worth / 2, out_of=worth, late_days=1, penalty=worth / 2)
    document = results(assignment, [late])
    assert document["score"] == worth / 2 and "1 day late" in document["output"]


def test_each_exercise_is_a_test_of_its_own_name_with_its_points() -> None:
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
        # The teacher's text stands only where it is used.
        assert ("WithExtra" in hidden.source) == (about.id == "00-layers-in-order")
    assert graded == {}


def test_without_variants_of_its_own_an_exercise_is_one_test() -> None:
    only_cases = dataclasses.replace(an_assignment(), hidden=HIDDEN.replace("SEEDS = 1", ""))
    notebook = nbgrader.notebook(only_cases, CHAPTER)
    graded = [cell.metadata.nbgrader for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    grades = [(grade.grade_id, grade.points) for grade in graded]
    assert grades[:3] == [("00-layers-in-order", 0.5), ("00-layers-in-order-hidden", 0.5), ("00-readers", 1.0)]
    assert len(grades) == len(only_cases.exercises) + 1


@needs_nbgrader
def test_nbgrader_gives_the_same_marks(tmp_path: Path) -> None:
    """Two students here, of whom one is right on the public checks alone; tests/cold has the whole class."""
    theirs, _ = graded_by_nbgrader(tmp_path, ["overfitted", "cells_doubled"])
    assert theirs == graded_by_us(tmp_path / "submitted")
    assert theirs["overfitted", "00-layers-in-order"] == 0.5 and theirs["overfitted", "00-readers"] == 1
    released = (tmp_path / "release" / "week-1" / f"{CHAPTER}.ipynb").read_text(encoding="utf-8")
    assert leaks.find({f"exercises/{CHAPTER}.ipynb": without_metadata(released)}, HIDDEN) == []
    source = (tmp_path / "source" / "week-1" / f"{CHAPTER}.ipynb").read_text(encoding="utf-8")
    leaked = {leak.what for leak in leaks.find({f"exercises/{CHAPTER}.ipynb": without_metadata(source)}, HIDDEN)}
    assert "holds a part of the hidden variants" in leaked and len(leaked) > 5


def without_metadata(text: str) -> bytes:
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    return json.dumps(notebook).encode()


def test_a_course_is_not_overwritten_by_accident(tmp_path: Path) -> None:
    source = nbgrader.write(an_assignment(), tmp_path)
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    with pytest.raises(ExportError, match=r"week-1 is there already: add --force"):
        nbgrader.write(an_assignment(), tmp_path)
    nbgrader.write(an_assignment(), tmp_path, force=True)
    assert [path.name for path in source.iterdir()] == [f"{CHAPTER}.ipynb"]
    assert (tmp_path / "nbgrader_config.py").read_text() == "c = get_config()\n"
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportError, match="cannot be written"):
        nbgrader.write(an_assignment(), tmp_path / "file")


def test_without_nbgrader_the_command_to_run_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nbgrader.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ExportError, match="run `nbgrader generate_assignment week-1`"):
        nbgrader.make_release(tmp_path / "source" / "week-1")


@needs_nbgrader
def test_what_nbgrader_refuses_is_told_in_one_line(tmp_path: Path) -> None:
    source = nbgrader.write(an_assignment(), tmp_path)
    notebook = json.loads((source / f"{CHAPTER}.ipynb").read_text())
    graded = [cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("grade")]
    graded[1]["metadata"]["nbgrader"]["grade_id"] = graded[0]["metadata"]["nbgrader"]["grade_id"]
    (source / f"{CHAPTER}.ipynb").write_text(json.dumps(notebook))
    with pytest.raises(ExportError, match=r"nbgrader refuses the source version: .*Duplicate grade id") as raised:
        nbgrader.make_release(source)
    assert "\n" not in str(raised.value)


# ---- Gradescope: results ---------------------------------------------------------------------------------------------

_FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
_VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
_NUMBER = {"type": "number", "minimum": 0}
# As Gradescope documents its results.json.
SCHEMA: Any = {
    "type": "object",
    "additionalProperties": False,
    "required": ["score", "tests"],
    "properties": {
        "score": _NUMBER,
        "execution_time": _NUMBER,
        "output": {"type": "string"},
        "output_format": _FORMAT,
        "test_output_format": _FORMAT,
        "test_name_format": _FORMAT,
        "visibility": _VISIBILITY,
        "stdout_visibility": _VISIBILITY,
        "extra_data": {"type": "object"},
        "leaderboard": {"type": "array"},
        "tests": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name", "score", "max_score", "status", "output", "visibility"],
                "properties": {
                    "score": _NUMBER,
                    "max_score": _NUMBER,
                    "status": {"enum": ["passed", "failed"]},
                    "name": {"type": "string"},
                    "name_format": _FORMAT,
                    "number": {"type": "string"},
                    "output": {"type": "string"},
                    "output_format": _FORMAT,
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "visibility": _VISIBILITY,
                    "extra_data": {"type": "object"},
                },
            },
        },
    },
}
ROWS = [
    Mark("ann", "Ann", "00-layers-in-order", "passed", 1.0, 1.0),
    Mark("ann", "Ann", "00-readers", "public", 0.5, 1.0, message="SECRET", for_teacher="SECRET"),
    Mark("ann", "Ann", "00-swap-targets", "failed", 0.0, 2.0, message="<b>`relu`</b>.", node="relu", line="x = 1"),
    Mark("ann", "Ann", "00-unused-parameters", "unreadable", 0.0, 2.0),
]


def test_the_results_of_a_student_are_what_gradescope_documents() -> None:
    document = results(an_assignment(), ROWS)
    jsonschema.validate(document, SCHEMA)
    tests = {test["name"].partition(" ")[0] + test["name"].rpartition(":")[2]: test for test in document["tests"]}
    assert document["score"] == sum(mark.points for mark in ROWS) == 1.5
    assert sum(test["max_score"] for test in document["tests"]) == sum(an_assignment().points.values())
    readers = [tests[f"00-readers {what}"] for what in ("public checks", "hidden variants")]
    assert [(test["score"], test["status"]) for test in readers] == [(0.5, "passed"), (0, "failed")]
    assert [test["visibility"] for test in readers] == ["visible", "after_due_date"]
    assert readers[1]["output"] == UNSEEN
    assert readers[0]["name"] == "00-readers (Find the users of a value): public checks"
    swap = tests["00-swap-targets public checks"]["output"]
    assert swap.splitlines()[:3] == ["<b>`relu`</b>.", "In your code: x = 1", "Node: relu"]
    # Nothing of it is markup, so nothing of a student's can be.
    assert {document["output_format"], document["test_output_format"], document["test_name_format"]} == {"text"}
    assert tests["00-relu-to-gelu public checks"]["output"].startswith("Nothing was handed in")
    assert "SECRET" not in json.dumps(document)


def test_without_hidden_variants_an_exercise_is_one_test() -> None:
    assignment = dataclasses.replace(an_assignment(), hidden="")
    document = results(assignment, ROWS[:1])
    jsonschema.validate(document, SCHEMA)
    assert [test["max_score"] for test in document["tests"]] == list(assignment.points.values())


def test_a_failure_of_the_grader_costs_nobody_points(tmp_path: Path) -> None:
    broken = dataclasses.replace(ROWS[0], status="error")
    with pytest.raises(ExportError, match=r"00-layers-in-order of Ann is not graded: .*Run `grade` again"):
        write_results(an_assignment(), [broken], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_each_student_of_a_class_gets_a_file(tmp_path: Path) -> None:
    rows = [dataclasses.replace(row, key="bo", student="Bo") for row in ROWS[1:]]
    paths = write_results(an_assignment(), [*ROWS, *rows], tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == ["ann/results.json", "bo/results.json"]
    assert [json.loads(path.read_text())["score"] for path in paths] == [1.5, 0.5]


# ---- Gradescope: autograder ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def autograder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_autograder(an_assignment(), tmp_path_factory.mktemp("gradescope") / "autograder.zip")


def test_the_autograder_is_complete_and_the_same_each_time(autograder: Path, tmp_path: Path) -> None:
    again = make_autograder(an_assignment(), tmp_path / "other.zip")
    assert again.read_bytes() == autograder.read_bytes()
    with zipfile.ZipFile(autograder) as archive:
        scripts = [entry.filename for entry in archive.infolist() if entry.external_attr >> 16 & 0o111]
        assert scripts == ["run_autograder", "setup.sh"]
        assert {name.split("/")[0] for name in archive.namelist() if "/" in name} == {"classroom", "fxbook"}
        assert not [name for name in archive.namelist() if "__pycache__" in name or name.startswith("fxbook/tests")]
        pins = archive.read("requirements.txt").decode()
        assert "torch==2.13.0" in pins and "jupytext==" in pins and "jupyterlab==" not in pins
        archive.extractall(tmp_path)
    assignment = load(tmp_path / "assignment.toml")
    assert dataclasses.replace(assignment, title="") == dataclasses.replace(an_assignment(), title="")
    for script in scripts:
        assert subprocess.run(["bash", "-n", tmp_path / script], capture_output=True).returncode == 0
    with pytest.raises(release.ReleaseError, match="is there already"):
        make_autograder(an_assignment(), tmp_path / "other.zip")


_WITH_PINS_ALONE = """
import sys
from importlib import metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pinned = {canonicalize_name(Requirement(line).name) for line in open("requirements.txt").read().splitlines()}
packages = metadata.packages_distributions()


class Absent:
    def find_spec(self, name, *_):
        found = packages.get(name)
        if name == "press" or found and not pinned & set(map(canonicalize_name, found)):
            if name not in ("classroom", "fxbook"):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
from classroom.exports.gradescope import inside
from classroom.sandbox import calls
from classroom.sandbox.inside import judging, observing, reading
if sys.platform == "linux":
    calls.program()
print(inside.__file__)
"""


def test_what_runs_over_there_needs_nothing_but_the_zip_and_its_pins(autograder: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(autograder) as archive:
        archive.extractall(tmp_path)
    run = [sys.executable, "-c", _WITH_PINS_ALONE]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(tmp_path)
    # Without a pin that it needs, it fails.
    pins = (tmp_path / "requirements.txt").read_text().splitlines(keepends=True)
    (tmp_path / "requirements.txt").write_text("".join(line for line in pins if not line.startswith("jupytext==")))
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode and "No module named 'jupytext'" in done.stderr


def test_an_assignment_in_toml_is_the_same_assignment(tmp_path: Path) -> None:
    full = of_chapters(["02", "03"], 'Wöche "2" \\ \n \x7f 🙂')
    points = {**full.points, "02-put-in-order": 2.5}
    assignment = dataclasses.replace(full, exercises=full.exercises[2:], public_share=0.3, hidden=HIDDEN)
    assignment = dataclasses.replace(assignment, points={about.id: points[about.id] for about in assignment.exercises})
    (tmp_path / "assignment.toml").write_text(as_toml(assignment), encoding="utf-8")
    (tmp_path / "hidden.py").write_text(HIDDEN, encoding="utf-8")
    assert load(tmp_path / "assignment.toml") == assignment


@pytest.mark.parametrize("kind", ["trusted", "in a sandbox"])
def test_the_autograder_grades_one_submission(kind: str, autograder: Path, tmp_path: Path) -> None:
    if kind != "trusted" and (why := protection().refusal):
        pytest.skip(why)
    handed_out = release.notebook(an_assignment(), CHAPTER)
    run = grade_over_there(autograder, tmp_path, handed_in(handed_out, CLASS["overfitted"]), trusted=kind == "trusted")
    assert run.returncode == 0, run.stderr
    assert run.stdout.endswith(f", {kind}\n")
    document = json.loads((tmp_path / "results" / "results.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, SCHEMA)
    assert document["score"] == sum(an_assignment().points.values()) - 0.5
    failed = [test["name"] for test in document["tests"] if test["status"] == "failed"]
    assert failed == ["00-layers-in-order (List the layers in the order they run): hidden variants"]
    assert not (tmp_path / "source" / "hidden.py").exists() and not (tmp_path / "source" / "assignment.toml").exists()


def test_a_failure_over_there_is_told_and_gives_no_marks(autograder: Path, tmp_path: Path) -> None:
    run = grade_over_there(autograder, tmp_path, "", hidden="SEEDS = 'many'")
    assert run.returncode == 1 and not (tmp_path / "results" / "results.json").exists()
    assert "SEEDS = 'many' of the hidden variants" in run.stderr and "Traceback" not in run.stderr


def grade_over_there(
    autograder: Path, root: Path, notebook: str, *, trusted: bool = True, hidden: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``run_autograder`` with Gradescope's folders below ``root``."""
    with zipfile.ZipFile(autograder) as archive:
        archive.extractall(root / "source")
    if hidden is not None:
        (root / "source" / "hidden.py").write_text(hidden)
    (root / "submission" / "my work").mkdir(parents=True)
    (root / "submission" / "my work" / f"{CHAPTER} (1).ipynb").write_text(notebook, encoding="utf-8")
    (root / "submission_metadata.json").write_text(json.dumps({"users": [{"name": "Ann"}]}))
    (root / "results").mkdir()
    bash = shutil.which("bash")
    assert bash
    # Without a PATH there is no bubblewrap, as in a container that allows none.
    path = {"PATH": ""} if trusted else {}
    environment = {**os.environ, **path, "AUTOGRADER_ROOT": str(root), "AUTOGRADER_PYTHON": sys.executable}
    script = root / "source" / "run_autograder"
    return subprocess.run([bash, script], env=environment, capture_output=True, text=True)


def test_hidden_variants_that_cannot_be_used_are_told() -> None:
    with pytest.raises(HiddenError, match="SEEDS = -1"):
        nbgrader.notebook(dataclasses.replace(an_assignment(), hidden="SEEDS = -1"), CHAPTER)
