"""The list of all faults in a chapter leads to each entry of the page beside it, and has its old anchor."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from press.manuscript.faults import MARKER, with_list
from press.manuscript.problems import PressError
from press.manuscript.reading import HEADER, Manuscript, parse

FAULTS = """\
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
    """A page of the manuscript with that text."""
    return parse(Path(name), f"{HEADER}\n{text}")


@pytest.mark.parametrize(
    ("text", "has_companion"),
    [("# T\n", True), (f"# T\n\n{MARKER}\n\n{MARKER}\n", True), (f"# T\n\n{MARKER}\n", False)],
)
def test_a_chapter_without_its_list_is_refused(text: str, has_companion: bool) -> None:
    chapter = page("01_x.md", text)
    companion = page("when_it_breaks/01_x.md", FAULTS) if has_companion else None
    with pytest.raises(PressError, match=re.escape("has <!-- all faults --> once, another has none")):
        with_list(chapter, chapter.cells, companion)
