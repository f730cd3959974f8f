"""On another torch, every cell runs, and a cell that fails only for lack of an earlier result is recognised."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from nbformat import v4

from press import stored
from press.book import Book
from press.printing import warm
from press.versions.cells import Difference
from press.versions.record import BEHAVIOUR, FOLLOWS
from press.versions.run import cells

pytestmark = pytest.mark.skipif(not warm.AVAILABLE, reason="there is no fork here: kernels start cold")

# Sources with their output; `None` if the cell may print anything.
SOURCES: tuple[tuple[str, str | None], ...] = (
    ("from math import floor, no_such_name, ceil\nthree = floor(3.5)", ""),
    ("print(three, ceil(0.5))", "3 1\n"),
    ("no_such_name(1)", ""),
    ("total = 1 / 0\nrest = 5", ""),
    ("print(rest)", "5\n"),
    ("rest, total", "1"),
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
        text = "x\n" if printed is None else printed
        cell.outputs = [v4.new_output("stream", name="stdout", text=text)] if text else []
        cell.metadata["tags"] = ["nbval-ignore-output"] if printed is None else []
        notebook.cells += [v4.new_markdown_cell(f"## Section {number}"), cell]
    path = root / "chapters" / "one.ipynb"
    stored.replace(path, stored.serialised(notebook))
    ran, differing = cells(Book(root), [path], Path(sys.executable))
    assert ran == len(SOURCES)
    return differing


def named(found: list[Difference]) -> dict[int, Difference]:
    """The differences by the number of the cell."""
    return {int(one.section.rpartition("-")[2]): one for one in found}


def test_every_cell_runs_and_differences_have_a_kind(found: list[Difference]) -> None:
    assert {number: one.kind for number, one in named(found).items()} == {
        0: BEHAVIOUR,
        2: FOLLOWS,
        3: BEHAVIOUR,
        5: FOLLOWS,
        7: FOLLOWS,
        8: BEHAVIOUR,
    }
    failing = named(found)[3]
    assert (failing.notebook, failing.section) == ("chapters/one.ipynb", "one.ipynb#section-3")
    assert (failing.here.error, failing.begins) == ("ZeroDivisionError: division by zero", "total = 1 / 0")


def test_statements_after_a_failing_one_still_run(found: list[Difference]) -> None:
    assert not {1, 4} & set(named(found))


def test_a_cell_that_uses_names_of_a_failed_cell_is_marked(found: list[Difference]) -> None:
    assert {number for number, one in named(found).items() if one.reads_lost} == {2, 5}
