"""The symptom index has the messages of every version, from cells and from probes."""

from __future__ import annotations

import pytest
from nbformat import v4

from press import ROOT
from press.book import the_book
from press.pages.symptoms import as_code, symptoms
from press.versions import record
from press.versions.messages import MESSAGE, form, searched

PAGE = ROOT / "chapters" / "reference" / "symptom_index.md"


def test_every_recorded_message_is_in_the_index() -> None:
    text = form(PAGE.read_text(encoding="utf-8"))
    messages = record.read().messages
    assert len(messages) > 90 and [one for one in messages if form(as_code(one.text)) not in text] == []


def test_the_section_of_a_message_exists() -> None:
    book = the_book()
    names = {f"{name}.ipynb": book.headings(name) for name in (*book.chapters, *book.companions)}
    places = [one.at.partition("#") for one in record.read().messages if one.at.partition("#")[0] in names]
    assert len(places) > 40 and [(page, at) for page, _, at in places if at and at not in names[page]] == []


@pytest.mark.parametrize(
    ("here", "message"),
    [
        ("torch.export Unsupported: missing: MATCH_CLASS", "Unsupported: missing: MATCH_CLASS"),
        (
            "UserError: Constraints violated (batch)! For more information, run with",
            "UserError: Constraints violated (batch)!",
        ),
        ("TypeError: no from user code: File", "TypeError: no"),
        ("torch.export a graph of 4 nodes, right", ""),
        ("RuntimeError when it is made", ""),
        # From a cell that gets something unexpected from torch.
        ("IndexError: list index out of range", ""),
        ("ValueError: not enough values to unpack (expected 1, got 0)", ""),
        ("RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x2 and 4x8)", ""),
        ('AssertionError: expected KeyError with "x" in its message, but nothing was raised', ""),
        ("AssertionError: expected KeyError or OSError with 'x' in its message, got TypeError: y", ""),
    ],
)
def test_which_part_of_a_message_is_searched_for(here: str, message: str) -> None:
    assert searched(here) == message


def test_a_list_of_classes_is_no_message() -> None:
    assert MESSAGE.match("RuntimeError: len") and MESSAGE.match("TypeError relu() takes 1")
    assert not MESSAGE.match("TypeError TypeError TypeError")


def test_a_message_is_listed_under_each_class_that_it_may_have() -> None:
    output = v4.new_output("stream", name="stdout", text="AttributeError or PicklingError: … local object …\n")
    cells = [v4.new_markdown_cell("## When it breaks"), v4.new_markdown_cell("### From a pickle")]
    [entry], _ = symptoms("04_x", v4.new_notebook(cells=[*cells, v4.new_code_cell("x", outputs=[output])]))
    assert entry.messages == ["AttributeError: … local object …", "PicklingError: … local object …"]


def test_an_error_of_another_version_is_explained_by_its_fact() -> None:
    text = PAGE.read_text(encoding="utf-8")
    message = "TypeError: ExportedProgram.module() got an unexpected keyword argument 'check_guards'"
    entry = text.partition(f"`{message}` (torch 2.6 to 2.8)\\\n")[2].partition("\n\n")[0]
    assert "what changed in torch 2.9" in entry
    assert "(versions.md#exportedprogrammodule-has-the-option-check_guards)" in entry
    for words in ("FutureWarning: ", "apply() takes no keyword", "BackendCompilerFailed: ", "addmm: mat1 and mat2"):
        assert words in text


def test_every_error_that_a_probe_prints_is_in_the_index() -> None:
    text = form(PAGE.read_text(encoding="utf-8"))
    rows = [line for change in the_book().changes.values() for _, line in change.rows if MESSAGE.match(line)]
    assert rows and [line for line in rows if form(line) not in text] == []
