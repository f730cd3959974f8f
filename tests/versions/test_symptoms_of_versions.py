"""The symptom index has the words of every version: those that a cell showed there, and those that a probe printed."""

from __future__ import annotations

from pathlib import Path

from nbformat import v4

from press import ROOT
from press.book import the_book
from press.pages.symptoms import MESSAGE, symptoms
from press.versions import record
from press.versions.facts import Fact, told

PAGE = ROOT / "chapters" / "reference" / "symptom_index.md"


def test_the_message_of_another_version_stands_under_the_heading_of_its_cell() -> None:
    printed = v4.new_output("stream", name="stdout", text="RuntimeError: mat1 and mat2\n")
    cells = [
        v4.new_markdown_cell("# 04 · When it breaks\n\n## With a message\n\n### One\n\n*Cause*: sizes differ."),
        v4.new_code_cell("cell", id="aa", outputs=[printed]),
        v4.new_markdown_cell("### Two\n\n*Cause*: another."),
        v4.new_code_cell("cell", id="bb", outputs=[printed]),
    ]
    elsewhere = {"aa": [("RuntimeError: mm: mat1 and mat2", "2.15")]}
    entries, _ = symptoms("when_it_breaks/04_recompile", v4.new_notebook(cells=cells), elsewhere)
    assert [(one.heading, one.elsewhere) for one in entries] == [
        ("One", [("RuntimeError: mm: mat1 and mat2", "2.15")]),
        ("Two", []),
    ]


def test_every_recorded_message_is_in_the_index_with_its_versions() -> None:
    text = PAGE.read_text(encoding="utf-8")
    kept = record.read()
    companions = [one for one in kept.entries if one.notebook.startswith("chapters/when_it_breaks/")]
    messages = [(message, one) for one in companions for message in one.messages]
    assert messages, "the pages of faults show other words on other versions"
    lines = text.splitlines()
    lost = [message for message, _ in messages if not any(message in line for line in lines)]
    assert lost == []


def test_every_error_that_a_probe_prints_is_in_the_index() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = [line for change in the_book().changes.values() for _, line in change.rows if MESSAGE.match(line)]
    assert rows and [line for line in rows if line not in text] == []


def test_a_probe_that_prints_an_error_tells_on_which_versions() -> None:
    outputs = {"2.6.0": "TypeError: no", "2.7.1": "TypeError: no", "2.13.0": "done"}
    change = told(Fact("a", Path("a.py"), "It runs", "It did not."), outputs, "2.13.0")
    assert change.rows[0] == ("2.6 to 2.7", "TypeError: no")
