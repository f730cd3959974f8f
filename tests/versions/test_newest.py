"""The page about the newest torch says what would change, with the line of the manuscript, and that something would."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbformat import v4

from press import ROOT
from press.binding.environment import SetupError
from press.book import Book
from press.versions import newest, record
from press.versions.cells import Difference
from press.versions.matrix import Seen
from press.versions.outputs import shown
from press.versions.record import BEHAVIOUR, WORDING

CHAPTER = ROOT / "chapters" / "00_first_graph.ipynb"


def differing(kind: str) -> Difference:
    """The second cell of code of the first chapter, as if it had printed something else."""
    notebook = Book().printed(CHAPTER)
    assert notebook
    cell = [cell for cell in notebook.cells if cell.cell_type == "code"][1]
    here = shown([v4.new_output("stream", name="stdout", text="something else\n")])
    return Difference(cell.id, cell.source.splitlines()[0], shown([]), here, kind)


NOTHING = Seen(2438, {CHAPTER: []}, {}, 9, {})
SOMETHING = Seen(2438, {CHAPTER: [differing(BEHAVIOUR), differing(WORDING)]}, {}, 9, {"00-readers-one": "no"})


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[dict[str, Seen]]:
    """What is seen on the newest torch, under ``"seen"``; nothing is fetched and nothing is run."""
    told = {"seen": NOTHING}
    monkeypatch.setattr(newest.environments, "newest", lambda: "2.99.0")
    monkeypatch.setattr(newest.environments, "ensure", lambda version: Path(version))
    monkeypatch.setattr(newest.matrix, "see", lambda *_: told["seen"])
    monkeypatch.setattr(newest, "PAGE", ROOT / "_build" / tmp_path.name / "newest.md")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    newest.PAGE.parent.mkdir(parents=True)
    yield told
    newest.PAGE.unlink(missing_ok=True)
    newest.PAGE.parent.rmdir()


def test_where_nothing_differs_the_page_says_so(seen: dict[str, Seen]) -> None:
    assert newest.tell(with_answers=True) == 0
    text = newest.PAGE.read_text(encoding="utf-8")
    assert "2,438 cells ran; 0 show something else" in text and "## Exercises: 0 of 9 answers" in text
    assert "write `torch==2.99.0` into `pyproject.toml`" in text


def test_what_differs_is_told_by_kind_with_its_line_in_the_manuscript(seen: dict[str, Seen]) -> None:
    seen["seen"] = SOMETHING
    assert newest.tell(with_answers=True) == 1
    text = newest.PAGE.read_text(encoding="utf-8")
    first, second = text.index("## Cells that do something else: 1"), text.index("## Cells with other words: 1")
    assert first < second < text.index("- `00-readers-one`: no")
    number = int(text.partition("`book/chapters/00_first_graph.md:")[2].partition("`")[0])
    lines = (ROOT / "book" / "chapters" / "00_first_graph.md").read_text(encoding="utf-8").splitlines()
    assert lines[number - 1] == SOMETHING.found[CHAPTER][0].begins
    assert "+ something else" in text


def test_answers_that_were_left_out_are_not_told_as_right(seen: dict[str, Seen]) -> None:
    assert newest.tell(with_answers=False) == 0
    text = newest.PAGE.read_text(encoding="utf-8")
    assert "The answers to the exercises were left out." in text and "## Exercises" not in text


def test_a_job_shows_the_page(seen: dict[str, Seen], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    newest.tell(with_answers=True)
    assert (tmp_path / "summary.md").read_text(encoding="utf-8") == newest.PAGE.read_text(encoding="utf-8")


def test_a_changed_fact_is_told_with_both_lines() -> None:
    recorded = {"a": {"2.13.0": "False"}, "b": {"2.13.0": "x"}}
    assert list(newest._changed(recorded, "2.13.0", {"a": "True", "b": "x", "c": "new"})) == [
        "- `a`: `False` becomes `True`"
    ]


def test_a_changed_fact_alone_is_noticed(seen: dict[str, Seen]) -> None:
    name, lines = next(iter(record.read().facts.items()))
    for line, code in ((lines["2.13.0"], 0), ("another line", 1)):
        seen["seen"] = dataclasses.replace(NOTHING, printed={name: line})
        assert newest.tell(with_answers=True) == code


def test_an_index_that_does_not_answer_ends_the_command_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from press import __main__ as commands

    def fails() -> str:
        raise SetupError("uv could not ask the index: no network")

    monkeypatch.setattr(commands.environment, "run_module", lambda *_: None)
    monkeypatch.setattr(newest.environments, "newest", fails)
    assert commands.main(["newest"]) == 1
    assert capsys.readouterr().err == "uv could not ask the index: no network\n"
