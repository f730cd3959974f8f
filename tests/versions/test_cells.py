"""A notebook on another torch: every cell runs, and one that only lacks what an earlier one sets is told apart."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from nbformat import NotebookNode, v4

from press import stored
from press.book import Book
from press.printing import warm
from press.versions.cells import Difference, names
from press.versions.matrix import cells
from press.versions.record import BEHAVIOUR, FOLLOWS

pytestmark = pytest.mark.skipif(not warm.AVAILABLE, reason="there is no fork here: kernels start cold")

# Each source with what is printed of it; where that is `None`, the cell is told to print anything.
SOURCES: tuple[tuple[str, str | None], ...] = (
    ("from math import floor, no_such_name, ceil\nthree = floor(3.5)", ""),
    ("print(three, ceil(0.5))", "3 1\n"),
    ("no_such_name(1)", ""),
    ("total = 1 / 0\nrest = 5", ""),
    ("print(rest)", "5\n"),
    ("def use():\n    return total", ""),
    ("use()", ""),
    ("print(2)", "1\n"),
    ("print('0x00ffee00ffee')", "0x…\n"),
    ("import random; print(random.random())", None),
)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Difference]:
    root = tmp_path_factory.mktemp("book")
    notebook = v4.new_notebook()
    for number, (source, printed) in enumerate(SOURCES):
        cell = v4.new_code_cell(source, id=f"cell{number}")
        cell.outputs = (
            [v4.new_output("stream", name="stdout", text="x\n" if printed is None else printed)]
            if printed != ""
            else []
        )
        cell.metadata["tags"] = ["nbval-ignore-output"] if printed is None else []
        notebook.cells += [v4.new_markdown_cell("text"), cell]
    path = root / "chapters" / "one.ipynb"
    stored.replace(path, stored.serialised(notebook))
    ran, differing = cells(Book(root), [path], Path(sys.executable))
    assert ran == len(SOURCES)
    return differing[path]


def test_every_cell_runs_and_those_that_differ_are_told_with_their_kind(found: list[Difference]) -> None:
    assert {one.cell: one.kind for one in found} == {
        "cell0": BEHAVIOUR,
        "cell2": FOLLOWS,
        "cell3": BEHAVIOUR,
        "cell6": FOLLOWS,
        "cell7": BEHAVIOUR,
    }


def test_what_stands_behind_the_failing_statement_is_set_all_the_same(found: list[Difference]) -> None:
    assert not {"cell1", "cell4"} & {one.cell for one in found}


def test_a_failing_cell_is_told_by_its_error_and_its_first_line(found: list[Difference]) -> None:
    failing = next(one for one in found if one.cell == "cell3")
    assert (failing.here.error, failing.begins) == ("ZeroDivisionError: division by zero", "total = 1 / 0")


def test_the_names_that_a_cell_sets() -> None:
    source = "import a.b, c as d\nfrom e import f as g\nh = [i for i in j]\ndef k(l): m = 1\nclass N: pass"
    assert names(source) == {"a", "d", "g", "h", "i", "k", "m", "N"}
    assert names("%magic") == set()


def test_a_notebook_stays_as_it_is_printed(tmp_path: Path) -> None:
    notebook: NotebookNode = v4.new_notebook(cells=[v4.new_code_cell("print(1)", id="one")])
    path = tmp_path / "chapters" / "one.ipynb"
    stored.replace(path, stored.serialised(notebook))
    before = path.read_text(encoding="utf-8")
    cells(Book(tmp_path), [path], Path(sys.executable))
    assert path.read_text(encoding="utf-8") == before
