"""The cheat sheet has three pages of A4, black on white, with nothing cut off and no untested code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Page

from press import ROOT
from tests.browsing import needs_chromium
from tests.site.pages import article

PAGE = "chapters/reference/cheat_sheet"
SHEET = "article.bd-article > section"
# 210 mm minus two margins of 9 mm, in CSS pixels, so that columns are as wide as on paper.
PAPER_WIDTH = round(192 / 25.4 * 96)
A4_POINTS = (595, 842)
SMALLEST_POINTS = 7.5
# Line limits for a snippet, and for the model that all snippets edit.
MOST_LINES, LINES_OF_MODEL = 8, 10

TEXT_SIZES = f"""() => [...document.querySelectorAll("{SHEET} *")].filter(box =>
  box.checkVisibility() && [...box.childNodes].some(one => one.nodeType === 3 && one.data.trim())
).map(box => [parseFloat(getComputedStyle(box).fontSize) * 72 / 96, getComputedStyle(box).color, box.textContent])"""
# Measures the lines of code themselves, since scrollWidth and paper ignore visible overflow.
CUT_OFF = f"""() => [...document.querySelectorAll("{SHEET} :is(pre, td)")].filter(box => {{
  if (!box.checkVisibility()) return false;
  const range = document.createRange();
  range.selectNodeContents(box);
  return [...range.getClientRects()].some(line => line.right > box.getBoundingClientRect().right + 0.5);
}}).map(box => box.textContent)"""
LINES_WRAP = f"""() => [...document.querySelectorAll("{SHEET} .cell_input pre")].filter(box => {{
  const style = getComputedStyle(box);
  const high = box.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
  const lines = box.textContent.trimEnd().split("\\n").length;
  return box.checkVisibility() && high > (lines + 0.5) * parseFloat(style.lineHeight);
}}).map(box => box.textContent)"""


@pytest.fixture(scope="module", params=["light", "dark"])
def sheet(request: pytest.FixtureRequest, browser: Browser, built_book: Path) -> Iterator[Page]:
    context = browser.new_context(color_scheme=request.param)
    context.add_init_script(f"localStorage.setItem('mode', '{request.param}')")
    page = context.new_page()
    page.goto((built_book / f"{PAGE}.html").as_uri())
    assert page.locator("html").get_attribute("data-theme") == request.param
    yield page
    context.close()


@needs_chromium
@pytest.mark.room(name="site")
def test_cheat_sheet_prints_on_three_pages_of_a4(sheet: Page) -> None:
    pdf = sheet.pdf(format="A4")
    boxes = re.findall(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert len(re.findall(rb"/Type ?/Page\b", pdf)) == len(boxes) == 3
    assert {(int(float(wide)), int(float(high))) for wide, high in boxes} == {A4_POINTS}


@needs_chromium
@pytest.mark.room(name="site")
def test_print_is_black_legible_and_complete(sheet: Page) -> None:
    sheet.set_viewport_size({"width": PAPER_WIDTH, "height": 1000})
    sheet.emulate_media(media="print")
    try:
        texts = sheet.evaluate(TEXT_SIZES)
        assert len(texts) > 500
        assert [text for size, _, text in texts if size < SMALLEST_POINTS - 0.01] == []
        assert {colour for _, colour, _ in texts} == {"rgb(0, 0, 0)"}
        assert sheet.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert sheet.evaluate(CUT_OFF) == []
        assert sheet.evaluate(LINES_WRAP) == []
        columns = sheet.evaluate(f"getComputedStyle(document.querySelector('{SHEET}')).columnCount")
        assert columns == "2"
        for gone in (".bd-sidebar-primary", ".bd-header-article", ".prev-next-footer", ".bd-footer", ".tag_hide-input"):
            assert not any(box.is_visible() for box in sheet.locator(gone).all()), gone
    finally:
        sheet.emulate_media(media="screen")


def code_cells(folded: bool) -> list[str]:
    """The code cells that are folded on screen and left out on paper, or all others."""
    cells = nbformat.read(ROOT / f"{PAGE}.ipynb", as_version=4).cells
    return [
        cell.source
        for cell in cells
        if cell.cell_type == "code" and ("hide-input" in cell.metadata.get("tags", [])) == folded
    ]


def test_snippets_are_short_and_fit_a_column() -> None:
    lengths = sorted(len(source.splitlines()) for source in code_cells(folded=False))
    assert lengths[-1] <= LINES_OF_MODEL
    assert lengths[-2] <= MOST_LINES
    assert [line for source in code_cells(folded=False) for line in source.splitlines() if len(line) > 56] == []


def test_inline_code_occurs_in_a_cell(built_book: Path) -> None:
    """Code in tables and sentences also appears, letter for letter, in a cell."""
    run = "\n".join(code_cells(folded=False) + code_cells(folded=True))
    shown = [span.get_text() for span in article(built_book, PAGE).select(":is(p, td) code:not(.fx-versions *)")]
    assert len(shown) > 50
    assert [text for text in shown if text not in run] == []
