"""A run on another torch records the differences, and names each cell that no fact explains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from press.binding.environment import SetupError
from press.book import Book, the_book
from press.pages.versions import page_text
from press.versions import record, run
from press.versions.cells import Difference
from press.versions.facts import Remark
from press.versions.outputs import Shown
from press.versions.record import BEHAVIOUR, FOLLOWS, WORDING, Message, Record

NOTEBOOK = "chapters/04_recompile.ipynb"


def cell(printed: str, here: str, kind: str = BEHAVIOUR, reads_lost: bool = False) -> Difference:
    texts = (Shown({"stdout": (text,)}) for text in (printed, here))
    return Difference(NOTEBOOK, "04_recompile.ipynb#outer", "outer.recompile()", *texts, kind, reads_lost)


UNEXPLAINED = cell("False", "nothing like it")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Record]:
    """The record, in memory; the probes print what is recorded, and the only cell that differs is ``UNEXPLAINED``."""
    kept = record.read()
    monkeypatch.setattr(record, "read", lambda *_: kept)
    monkeypatch.setattr(record, "write", lambda *_: True)
    monkeypatch.setattr(run.environments, "ensure", lambda _: tmp_path)
    monkeypatch.setattr(run.environments, "newest", lambda: "2.99.0")
    monkeypatch.setattr(run, "cells", lambda *_: (9, [UNEXPLAINED]))
    newest = {name: lines[record.in_order(lines)[-1]] for name, lines in kept.facts.items()}
    monkeypatch.setattr(run.probes, "outputs", lambda _: newest)
    monkeypatch.setattr(run, "REPORTS", run.ROOT / "_build" / tmp_path.name)
    yield kept
    for report in run.REPORTS.glob("*"):
        report.unlink()
    run.REPORTS.rmdir()


def test_each_cell_that_differs_is_explained_by_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = {"x": {"2.6.0": "old", "2.10.0": "new", "2.13.0": "new"}}
    patterns = {"said": ("E: said",), "x": (r"04_.*True => False$",), "silent": ("silent",)}
    book = Book()
    book.remarks = {
        "said": Remark(("2.6.0",), "E: said", "Something differs."),
        "silent": Remark(("2.6.0",), "silent", kind=WORDING),
    }
    monkeypatch.setattr(run.facts, "patterns", lambda *_: patterns)
    cells = [
        cell("True", "False"),
        cell("True", "E: said"),
        cell("E: one", "E: another", WORDING),
        cell("True", "silent"),
        cell("True", "lost", reads_lost=True),
        UNEXPLAINED,
    ]
    kept = Record(facts=facts)
    found = run.note(kept, book, "2.6.0", cells)
    assert [(one.kind, fact) for one, fact in found] == [
        (BEHAVIOUR, "x"),
        (BEHAVIOUR, "said"),
        (WORDING, ""),
        (WORDING, "silent"),
        (FOLLOWS, ""),
        (BEHAVIOUR, ""),
    ]
    assert kept.pages == {NOTEBOOK: ["x", "said"]}


@pytest.mark.parametrize(
    ("printed", "at"),
    [("True", ""), ("TypeError: before", "04_recompile.ipynb#outer")],
    ids=["no message here", "another message here"],
)
def test_a_message_is_noted_with_its_section_if_that_shows_a_message(
    monkeypatch: pytest.MonkeyPatch, printed: str, at: str
) -> None:
    monkeypatch.setattr(run.facts, "patterns", lambda *_: {"x": ("TypeError: got",)})
    kept = Record()
    run.note(kept, Book(), "2.6.0", [cell(printed, "TypeError: got 'x' from user code: 9")])
    assert kept.messages == [Message("TypeError: got 'x'", ("2.6.0",), at, "x")]


def test_a_cell_that_no_fact_explains_is_named(kept: Record, capsys: pytest.CaptureFixture[str]) -> None:
    assert run.run(["newest"]) == 1
    output = capsys.readouterr().out
    assert "torch 2.99.0: 1 cells differ, 1 of them unexplained; 0 facts" in output
    assert f"{NOTEBOOK} · outer.recompile()" in output
    assert kept.versions["2.99.0"] == {"cells": 9, "wording": 0, "warning": 0, "behaviour": 1, "follows": 0}
    assert "+nothing like it" in (run.REPORTS / "2.99.0.md").read_text(encoding="utf-8")


def test_a_fact_that_prints_something_new_is_named(kept: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "cells", lambda *_: (9, []))
    assert run.run(["newest"]) == 0
    monkeypatch.setattr(run.probes, "outputs", lambda _: {"annotate": "something new"})
    assert run.run(["newest"], facts_alone=True) == 1
    assert "- `annotate`: " in (run.REPORTS / "2.99.0.md").read_text(encoding="utf-8")


def test_today_is_one_of_the_versions(kept: Record, capsys: pytest.CaptureFixture[str]) -> None:
    run.run(["today"], facts_alone=True)
    assert capsys.readouterr().out.partition("torch ")[2].partition(":")[0] in record.VERSIONS


def test_without_fork_the_command_ends_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run.warm, "AVAILABLE", False)
    with pytest.raises(SetupError, match=r"only Linux and macOS allow\."):
        run.cells(Book(), [], Path("python"))


@pytest.mark.parametrize(
    ("notebook", "printed", "here", "failing"),
    [
        ("solutions/03.ipynb", "03-x (Clean up): solved.", "03-x (Clean up): not yet. It", "03-x"),
        ("solutions/03.ipynb", "03-x (Clean up): solved.", "03-x (Up): solved.", ""),
        ("chapters/03.ipynb", "03-x (Clean up): solved.", "03-x (Clean up): not yet. It", ""),
        ("solutions/03.ipynb", "", "03-x (Clean up): not yet. It", ""),
    ],
)
def test_a_solution_that_fails_is_named(notebook: str, printed: str, here: str, failing: str) -> None:
    one = Difference(notebook, "", "", Shown({"stdout": (printed,)}), Shown({"stdout": (here,)}), BEHAVIOUR)
    assert run.failing_solution(one) == failing


def test_the_page_names_the_solutions_that_need_a_newer_torch() -> None:
    needed = the_book().solutions_need
    assert needed and all(f"`{one}` needs torch {version}" in page_text(the_book()) for one, version in needed.items())
