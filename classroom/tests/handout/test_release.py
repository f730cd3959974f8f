"""The students' zip is complete, reproducible and usable, without solutions or hidden cases."""

from __future__ import annotations

import copy
import dataclasses
import json
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from classroom.assignment import Assignment, of_chapters
from classroom.handout import leaks, pins, release
from classroom.handout import page as handout
from classroom.handout.release import ReleaseError
from classroom.tests.handing_in import HIDDEN
from fxbook.catalogue import catalogue
from press import ROOT
from press.book import the_book
from tests.browsing import needs_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ASKED = ("02", "03")
EVERY = sorted({about.chapter[:2] for about in catalogue().values()})
Files = dict[str, bytes]


@pytest.fixture(scope="module")
def assignment() -> Assignment:
    return dataclasses.replace(of_chapters(list(ASKED), "Semaine 2 : réécrire"), hidden=HIDDEN)


@pytest.fixture(scope="module")
def release_zip(assignment: Assignment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release.make(assignment, tmp_path_factory.mktemp("release") / "week2.zip")


@pytest.fixture(scope="module")
def files(release_zip: Path) -> Files:
    """The files of the zip, by name inside the top folder."""
    with zipfile.ZipFile(release_zip) as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


@pytest.fixture
def unzipped(release_zip: Path, tmp_path: Path) -> Path:
    with zipfile.ZipFile(release_zip) as archive:
        archive.extractall(tmp_path)
    return tmp_path / "semaine-2-reecrire" / "exercises"


# ---- content ---------------------------------------------------------------------------------------------------------


def test_zip_contains_one_complete_folder(release_zip: Path, files: Files) -> None:
    with zipfile.ZipFile(release_zip) as archive:
        assert {name.split("/")[0] for name in archive.namelist()} == {"semaine-2-reecrire"}
        assert archive.testzip() is None and archive.comment == b""
        assert not [entry.filename for entry in archive.infolist() if entry.extra or entry.comment]
    outside = {name for name in files if not name.startswith("exercises/fxbook/")}
    notebooks = {"exercises/02_insertion_points.ipynb", "exercises/03_replacement.ipynb"}
    assert outside == notebooks | {"README.md", "requirements.txt", "handout.html", "handout.md"}
    library = {name.removeprefix("exercises/") for name in files} - {
        name.removeprefix("exercises/") for name in outside
    }
    tracked = subprocess.run(["git", "ls-files", "fxbook"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tasks = {name for name in tracked.split() if name.startswith("fxbook/tasks/")}
    left_out = {"fxbook/pyproject.toml", "fxbook/surgery/relus.py"}
    left_out |= {name for name in tracked.split() if name.startswith("fxbook/lab/")}
    assert {name for name in tracked.split() if (ROOT / name).exists()} - tasks - left_out <= library
    assert not left_out & library
    for number in EVERY:
        own = {name for name in tasks if name.startswith(f"fxbook/tasks/{number}_")}
        needed = {name for name in own if Path(name).name in ("__init__.py", "cases.py", "check.py")}
        assert own & library == (needed if number in ASKED else set())


_IMPORTS_EACH_CHAPTER = """
import sys
from fxbook import tasks

for number in tasks.chapters():
    tasks.all_exercises([number])
    for name in [name for name in sys.modules if name.startswith("fxbook.tasks.")]:
        del sys.modules[name]
        if not name.split(".")[2].startswith(number):
            print(number, name)
"""


def test_checks_import_nothing_of_other_chapters() -> None:
    command = [sys.executable, "-c", _IMPORTS_EACH_CHAPTER]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout == ""


def test_checks_contain_no_solution() -> None:
    ships = [path for name in ("cases.py", "check.py") for path in (ROOT / "fxbook/tasks").rglob(name)]
    library = {f"exercises/{path.relative_to(ROOT).as_posix()}": path.read_bytes() for path in ships}
    assert len(library) > 100 and leaks.find(library) == []


def test_zip_is_reproducible(assignment: Assignment, release_zip: Path, tmp_path: Path) -> None:
    again = release.make(assignment, tmp_path / "another name.zip")
    assert again.read_bytes() == release_zip.read_bytes()


def test_notebooks_are_as_printed_except_links(files: Files) -> None:
    for name, data in files.items():
        if name.endswith(".ipynb"):
            ours, printed = nbformat.reads(data.decode(), 4).cells, nbformat.read(ROOT / name, 4).cells
            code = [[cell.source for cell in cells if cell.cell_type == "code"] for cells in (ours, printed)]
            assert code[0] == code[1] and "](../" not in data.decode()
            assert [cell.id for cell in ours] == [cell.id for cell in printed if cell.id != "solutions"]


def test_exercise_can_be_left_out(assignment: Assignment) -> None:
    exercises = tuple(about for about in assignment.exercises if about.id != "02-put-in-order")
    released = release.files(dataclasses.replace(assignment, exercises=exercises))
    text = released["exercises/02_insertion_points.ipynb"].decode()
    assert "02-put-in-order" not in text and "def scramble" not in text and "02-halve-the-skip" in text
    assert "02-put-in-order" not in released["handout.html"].decode()


def test_needed_exercise_cannot_be_left_out() -> None:
    assignment = of_chapters(["06"])
    exercises = tuple(about for about in assignment.exercises if about.id != "06-tell-a-difference")
    with pytest.raises(
        ReleaseError, match=r"06-in-place-where-safe uses `differs` from 06-tell-a-difference, which is left out"
    ):
        release.files(dataclasses.replace(assignment, exercises=exercises))


# ---- secrets ---------------------------------------------------------------------------------------------------------

SHEETS = [sheet for sheet in the_book().sheets() if sheet.chapter[:2] in ASKED]


def test_nothing_is_written_if_something_leaks(
    assignment: Assignment, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = {**files, "README.md": SHEETS[0].exercises[3].why.encode()}
    monkeypatch.setattr(release, "files", lambda _: planted)
    with pytest.raises(ReleaseError, match=r"README\.md: contains part of the solution of 02-put-in-order"):
        release.make(assignment, tmp_path / "week2.zip")
    assert list(tmp_path.iterdir()) == []


def test_changed_notebook_is_refused(assignment: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.read(ROOT / "exercises/02_insertion_points.ipynb", 4)
    next(cell for cell in notebook.cells if "def put_in_order" in cell.source).source += "\n    # my own answer"
    nbformat.write(notebook, tmp_path / "02_insertion_points.ipynb")
    original = release.derive_as_stored

    def elsewhere(*arguments: Any) -> list[Any]:
        return [dataclasses.replace(derived, path=tmp_path / derived.path.name) for derived in original(*arguments)]

    monkeypatch.setattr(release, "derive_as_stored", elsewhere)
    with pytest.raises(ReleaseError, match=r"exercises/02_insertion_points\.ipynb differs from the book \(cell \d+"):
        release.make(assignment, tmp_path / "week2.zip")


# ---- use -------------------------------------------------------------------------------------------------------------

_RUN = """
import json, sys
import fxbook
from fxbook import check
print(json.dumps({"fxbook": fxbook.__file__}))
for name in sys.argv[1:]:
    names = {"__name__": "__main__"}
    for cell in json.load(open(name, encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code" or "nbval-ignore-output" in cell["metadata"].get("tags", ()):
            continue
        if source.startswith("check("):
            report = eval(source, names)
            print(json.dumps({"id": report.about.id, "passed": report.passed, "told": repr(report)}))
        else:
            exec(source, names)
"""


def test_unzipped_checks_fail_and_solutions_pass(unzipped: Path) -> None:
    names = sorted(path.name for path in unzipped.glob("*.ipynb"))
    library, *reports = run_in(unzipped, [*names, *(solved_copy(unzipped / name) for name in names)])
    assert Path(library["fxbook"]).is_relative_to(unzipped)
    count = len(of_chapters(list(ASKED)).exercises)
    unsolved, solved = reports[:count], reports[count:]
    assert all(not report["passed"] and ": not yet." in report["told"] for report in unsolved)
    assert [(report["id"], report["told"]) for report in solved if not report["passed"]] == []
    assert [report["id"] for report in solved] == [report["id"] for report in unsolved]


def run_in(folder: Path, names: list[str]) -> list[Any]:
    done = subprocess.run([sys.executable, "-c", _RUN, *names], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # A script prints other lines too.
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def solved_copy(path: Path) -> str:
    """Write a copy of the notebook with our solutions, and return its name."""
    notebook = nbformat.read(path, 4)
    sheet = next(sheet for sheet in SHEETS if sheet.chapter == path.stem)
    forms = {
        stub.source: solution.source
        for exercise in sheet.exercises
        for stub, solution in zip(exercise.stub, exercise.solution, strict=True)
    }
    for cell in notebook.cells:
        cell.source = forms.get(cell.source, cell.source)
    nbformat.write(notebook, path.with_name(f"solved_{path.name}"))
    return f"solved_{path.name}"


def test_missing_check_says_so(unzipped: Path) -> None:
    code = "from fxbook import check, tasks; print(check('04-is-it-stale', print).message, tasks.all_exercises())"
    done = subprocess.run([sys.executable, "-c", code], cwd=unzipped, capture_output=True, text=True)
    assert (
        "The check of 04-is-it-stale is not in this folder, which holds those of chapters 02, 03: ask your teacher for "
        "it."
    ) in done.stdout
    listed = done.stdout.splitlines()[-1].partition("for it.")[2]
    assert "02-put-in-order" in listed and "04-" not in listed


def test_pins_are_complete_and_minimal(files: Files) -> None:
    """Every dependency of a pinned package on this machine is pinned too, except CUDA packages."""
    lines = [line for line in files["requirements.txt"].decode().splitlines() if not line.startswith("#")]
    pinned = {canonicalize_name(Requirement(line).name): Requirement(line) for line in lines}
    assert {"torch", "jupyterlab", "ipykernel", "matplotlib"} <= set(pinned)
    assert not {"pytest", "playwright", "nbval", "sphinx", "jupytext", "nbgrader", "ruff"} & set(pinned)
    assert set(lines) <= set((ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines())
    here = [name for name, pin in pinned.items() if pin.marker is None or pin.marker.evaluate()]
    needs = [Requirement(need) for name in here for need in metadata.requires(name) or []]
    names = {
        canonicalize_name(need.name) for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})
    }
    assert not [name for name in names - set(pinned) if not name.startswith(("nvidia-", "cuda-", "triton"))]


def test_pins_cover_other_systems() -> None:
    names = "\n".join(pins.needed("lab"))
    assert "pywinpty" in names and "appnope" in names and "colorama" in names


def test_chapters_on_real_models_pin_transformers() -> None:
    for chapter, is_pinned in (("10", True), ("02", False)):
        packed = release.files(of_chapters([chapter]))["requirements.txt"].decode()
        assert ("transformers==" in packed) == ("tokenizers==" in packed) == is_pinned


# ---- the handout -----------------------------------------------------------------------------------------------------


def test_handout_is_complete_and_self_contained(assignment: Assignment) -> None:
    for text in (handout.as_html(assignment), handout.as_markdown(assignment)):
        assert "Semaine 2 : réécrire" in text and "solved" in text and "hidden variants" in text
        assert "50 % of its points" in text and "●●●" in text and "02-activation-after-linear" in text
        assert "There are no hidden variants" in handout.as_markdown(dataclasses.replace(assignment, hidden=""))
    assert not re.search(r"(src|href)=|https?:|@import|url\(", handout.as_html(assignment))


@needs_chromium
@pytest.mark.parametrize("count", [1, 15, 59])
def test_handout_prints_on_one_page(count: int, browser: Browser, tmp_path: Path) -> None:
    full = of_chapters(EVERY, "Ein sehr langer Titel, über mehrere Zeilen, mit Umlauten, " * 5)
    assignment = dataclasses.replace(full, exercises=full.exercises[:count], hidden=HIDDEN)
    page = tmp_path / "handout.html"
    page.write_text(handout.as_html(assignment), encoding="utf-8")
    tab = browser.new_page()
    tab.goto(page.as_uri())
    printed = tab.pdf(prefer_css_page_size=True)
    fits = tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    tab.close()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1 and fits
    (box,) = re.findall(rb"/MediaBox\s*\[([^\]]*)\]", printed)
    assert [round(float(side)) for side in box.split()] == [0, 0, 595, 842]


# ---- messages --------------------------------------------------------------------------------------------------------


@pytest.fixture
def prepared(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the same files in all tests of where they are written."""
    monkeypatch.setattr(release, "files", lambda _: copy.copy(files))
    monkeypatch.setattr(leaks, "find", lambda *_: [])


@pytest.mark.usefixtures("prepared")
def test_existing_zip_is_replaced_only_on_demand(assignment: Assignment, tmp_path: Path) -> None:
    out = tmp_path / "Übung 2 (neu).zip"
    release.make(assignment, out)
    first = out.read_bytes()
    out.write_bytes(b"mine")
    with pytest.raises(ReleaseError, match="exists already: add --force"):
        release.make(assignment, out)
    with pytest.raises(ReleaseError, match=r"cannot be written .*choose another folder"):
        release.make(assignment, out / "week2.zip")
    assert out.read_bytes() == b"mine"
    release.make(assignment, out, force=True)
    assert out.read_bytes() == first and list(tmp_path.iterdir()) == [out]


def test_assignment_without_exercises_is_refused(assignment: Assignment) -> None:
    with pytest.raises(ReleaseError, match="has no exercise"):
        release.files(dataclasses.replace(assignment, exercises=()))


def test_broken_manuscript_is_reported(assignment: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "ROOT", tmp_path / "empty")
    with pytest.raises(ReleaseError, match="handed out from a checkout of the book"):
        release.notebook(assignment, "02_insertion_points")
    monkeypatch.setattr(release, "ROOT", tmp_path)
    folder = tmp_path / "fxbook" / "tasks" / "02_insertion_points"
    folder.mkdir(parents=True)
    (folder / "opening.md").write_text("```{code-cell}\n")
    with pytest.raises(ReleaseError, match="manuscript of these exercises has a mistake"):
        release.notebook(assignment, "02_insertion_points")


@pytest.mark.parametrize(
    ("title", "folder"), [("第二周", "exercises-02-03"), ("../../etc", "etc"), ("a" * 300, "a" * 60)]
)
def test_titles_give_valid_folder_names(assignment: Assignment, title: str, folder: str) -> None:
    assert release.folder_name(dataclasses.replace(assignment, title=title)) == folder
