"""Every generated notebook matches its manuscript; edits by hand are found without executing anything."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from press.book import Book, the_book
from press.manuscript.reading import HEADER
from press.pages.derived import PAGES
from press.printing import unchanged
from press.printing.freshness import INDEX, problems
from press.printing.notebooks import generate
from tests.conftest import empty_project

CHAPTER = "# Title\n\nSome text.\n\n```{code-cell} ipython3\n1 + 1\n```\n\nMore.\n"


def test_the_book_matches_its_manuscript() -> None:
    assert problems(the_book(), PAGES) == []


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one chapter and its notebook."""
    root = empty_project(tmp_path_factory.mktemp("printed"))
    (root / "book" / "chapters" / "01_x.md").write_text(f"{HEADER}\n{CHAPTER}", encoding="utf-8")
    assert generate(Book(root)) == 0
    assert problems(Book(root)) == []
    return root


@pytest.fixture
def generated(printed: Path, tmp_path: Path) -> Path:
    """The notebook in a copy of that project."""
    return shutil.copytree(printed, tmp_path / "project") / "chapters" / "01_x.ipynb"


def change_source(notebook: dict) -> None:
    notebook["cells"][1]["source"] = ["1 + 2"]


def change_prose(notebook: dict) -> None:
    notebook["cells"][0]["source"].append(" And more.")


def change_order(notebook: dict) -> None:
    notebook["cells"].reverse()


def drop_cell(notebook: dict) -> None:
    del notebook["cells"][2]


def change_id(notebook: dict) -> None:
    notebook["cells"][0]["id"] = "other"


def add_tag(notebook: dict) -> None:
    notebook["cells"][1]["metadata"]["tags"] = ["nbval-skip"]


def unexecute(notebook: dict) -> None:
    notebook["cells"][1].update(outputs=[], execution_count=None)


def change_metadata(notebook: dict) -> None:
    notebook["metadata"]["kernelspec"]["name"] = "other"


EDITS = {
    change_source: "cell 2 ('1 + 1') differs in its source from its manuscript: run `make notebooks`",
    change_prose: "cell 1 ('# Title') differs in its source from its manuscript",
    change_order: "cell 1 ('# Title') differs in its id from its manuscript",
    drop_cell: "has 2 cells, and its manuscript has 3",
    change_id: "cell 1 ('# Title') differs in its id",
    add_tag: "cell 2 ('1 + 1') differs in its metadata",
    unexecute: "cell 2 ('1 + 1') was not executed",
    change_metadata: "its metadata differs from its manuscript",
}


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_an_edit_by_hand_is_found_at_its_cell_and_overwritten(edit: Callable[[dict], None], generated: Path) -> None:
    notebook = json.loads(generated.read_text())
    edit(notebook)
    generated.write_text(json.dumps(notebook))
    (problem,) = problems(Book(generated.parents[1]))
    assert EDITS[edit] in problem.message
    assert problem.path == generated
    assert generate(Book(generated.parents[1])) == 0
    assert problems(Book(generated.parents[1])) == []


def test_a_damaged_notebook_is_named(generated: Path) -> None:
    generated.write_text("{")
    (problem,) = problems(Book(generated.parents[1]))
    assert "is missing or not a notebook: run `make notebooks`" in problem.message


def test_a_notebook_without_manuscript_is_named(generated: Path) -> None:
    stray = generated.with_name("02_stray.ipynb")
    stray.write_text(generated.read_text())
    (problem,) = problems(Book(generated.parents[1]))
    assert (problem.path, problem.message.split(":")[0]) == (stray, "has no manuscript")


def test_a_stale_index_of_exercises_is_named(generated: Path) -> None:
    index = generated.parents[1] / INDEX
    index.write_text("{}")
    (problem,) = problems(Book(generated.parents[1]))
    assert problem.path == index


@pytest.mark.parametrize("source", ["chapters/01_x.md", "reference/record.yml"])
def test_every_source_of_a_page_is_compared(
    generated: Path, project: Path, write: Callable[[str, str], Path], source: str
) -> None:
    (project / "book" / "reference").mkdir()
    unchanged.remember(project)
    assert unchanged.since_the_last_run(project)
    write(source, CHAPTER.replace("1 + 1", "1 + 2"))
    assert not unchanged.since_the_last_run(project)


def test_generating_again_changes_nothing(generated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = generated.stat().st_mtime_ns
    capsys.readouterr()
    assert generate(Book(generated.parents[1])) == 0
    assert capsys.readouterr().out == "Nothing to generate: every notebook matches its manuscript.\n"
    assert generated.stat().st_mtime_ns == before
