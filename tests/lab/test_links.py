"""The sections and entries that the lab links to exist."""

from __future__ import annotations

import re

import pytest

from fxbook.lab.puzzles import PUZZLES
from press import ROOT
from press.book import the_book
from tests.lab.playing import PAGE

MESSAGES = re.findall(r'^ {2}\[/.+/, "(.+#.+)"\],$', (PAGE / "book.js").read_text(encoding="utf-8"), re.M)


@pytest.mark.parametrize("section", [*(puzzle.section for puzzle in PUZZLES.values()), *MESSAGES])
def test_a_link_leads_to_a_section(section: str) -> None:
    page, _, heading = section.partition("#")
    assert heading in the_book().headings(page)


def test_the_last_puzzle_leads_to_the_chapter_after_those_with_puzzles() -> None:
    found = re.search(r'NEXT_CHAPTER = "(.+)"', (PAGE / "book.js").read_text(encoding="utf-8"))
    chapters = list(the_book().chapters)
    last = list(PUZZLES.values())[-1].section.partition("#")[0]
    assert found and found[1] == chapters[chapters.index(last) + 1]


def test_a_link_opens_each_puzzle() -> None:
    page = (ROOT / "book" / "reference" / "graph_lab.md").read_text(encoding="utf-8")
    assert set(PUZZLES) == set(re.findall(r'<a id="(.+)"></a>', page)) == set(re.findall(r'"([a-z-]+)"(?=[,)])', page))
    chapters = "".join(path.read_text(encoding="utf-8") for path in the_book().chapters.values())
    assert set(PUZZLES) == set(re.findall(r"reference/graph_lab\.ipynb#([\w-]+)", chapters))


def test_each_message_has_its_entry() -> None:
    assert len(MESSAGES) == 7
