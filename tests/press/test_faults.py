"""A chapter's list of faults links to each entry of its companion and keeps the old anchors."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from press.manuscript.problems import PressError
from press.manuscript.reading import HEADER, Manuscript, parse
from press.printing.transforms import FAULTS, with_faults

ENTRIES = """\
# 01 · When it breaks

## With a message

### TypeError: it is `None`

*Cause*: so.

### Known already

## Silent

## More on the list

### What it is made of
"""


def page(name: str, text: str) -> Manuscript:
    return parse(Path(name), f"{HEADER}\n{text}")


def book(chapter: Manuscript, companion: Manuscript | None) -> SimpleNamespace:
    """A book with one chapter, and its companion if one is given."""
    companions = {"when_it_breaks/01_x": companion.path} if companion else {}
    return SimpleNamespace(chapters={"01_x": chapter.path}, companions=companions, page=lambda _: companion)


def test_the_marker_becomes_a_list_with_the_anchors_of_the_entries() -> None:
    chapter = page("01_x.md", f"# T\n\n### Known already\n\n{FAULTS}\n")
    [cell] = with_faults(chapter, book(chapter, page("when_it_breaks/01_x.md", ENTRIES))).cells
    assert "<summary>2 more mistakes, each with its cause and fix · 1 other topic<" in cell.source
    name = "typeerror-it-is-none"
    link = f"[TypeError: it is `None`](when_it_breaks/01_x.ipynb#{name})"
    assert f'- <a id="{name}"></a>{link}' in cell.source
    assert "- [Known already](when_it_breaks/01_x.ipynb#known-already)" in cell.source, (
        "an id occurs only once on a page"
    )
    assert FAULTS not in cell.source


@pytest.mark.parametrize(
    ("text", "has_companion"),
    [("# T\n", True), (f"# T\n\n{FAULTS}\n\n{FAULTS}\n", True), (f"# T\n\n{FAULTS}\n", False)],
)
def test_a_chapter_without_its_list_is_rejected(text: str, has_companion: bool) -> None:
    chapter = page("01_x.md", text)
    companion = page("when_it_breaks/01_x.md", ENTRIES) if has_companion else None
    with pytest.raises(PressError, match=re.escape("must have <!-- all faults --> once, and no other page")):
        with_faults(chapter, book(chapter, companion))
