"""The one-file editions hold every page of the site once, in its order, and solutions last."""

from __future__ import annotations

from pathlib import Path

from press import ROOT
from press.paper.contents import leaves
from tests.site.pages import PAGES

TOC = """
root: chapters/intro
parts:
  - chapters:
      - file: book/setup
  - caption: Chapters
    chapters:
      - file: chapters/00_first
        sections:
          - file: exercises/00_first
          - file: solutions/00_first
      - file: chapters/01_second
"""


def test_every_page_of_the_site_is_there_once() -> None:
    names = [leaf.name for leaf in leaves(ROOT / "_toc.yml")]
    assert sorted(names) == sorted(PAGES)
    rest = [name for name in names if not name.startswith("solutions/")]
    assert rest == [page for page in PAGES if not page.startswith("solutions/")]


def test_a_solution_comes_last_wherever_the_site_has_it(tmp_path: Path) -> None:
    (tmp_path / "_toc.yml").write_text(TOC, encoding="utf-8")
    found = [(leaf.name, leaf.part, leaf.depth) for leaf in leaves(tmp_path / "_toc.yml")]
    assert found == [
        ("chapters/intro", "", 0),
        ("book/setup", "", 0),
        ("chapters/00_first", "Chapters", 0),
        ("exercises/00_first", "Chapters", 1),
        ("chapters/01_second", "Chapters", 0),
        ("solutions/00_first", "Solutions", 0),
    ]
