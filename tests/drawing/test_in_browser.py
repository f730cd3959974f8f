"""Drawings in Chromium, light and dark, wide and narrow: no text outside its box or on other text, no axe violation."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from fxbook.drawing import draw
from tests.browsing import THEMES, needs_chromium, texts_outside_their_box, texts_that_overlap
from tests.drawing.graphs import BROKEN, chain, residual

pytestmark = [needs_chromium, pytest.mark.room(name="site")]

OUTSIDE = texts_outside_their_box()
OVERLAPPING = texts_that_overlap()
SMALLEST = """() => Math.min(...[...document.querySelectorAll(".fx-svg")].map(
  svg => 12.5 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width))"""


@pytest.fixture(scope="module")
def gallery() -> str:
    """Drawings of all kinds, one below the other, their tables unfolded."""
    marks = {"linear": "moved", "relu": ["added", "rewired"], "mul": "removed", "where": "broken"}
    drawings = [draw(residual()), draw(residual(), "With marks", marks), draw(chain(40, 9)), draw(chain(500, 30))]
    drawings += [draw(residual(), "By data, with marks", marks, "data")]
    drawings += [draw(chain(count, skip), order="data") for count, skip in ((40, 9), (500, 30))]
    drawings += [draw(build(), build.__name__, order=order) for order in ("list", "data") for build in BROKEN]
    return "".join(drawing._repr_html_() for drawing in drawings).replace("<details>", "<details open>")


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("theme", THEMES)
def test_drawings_in_a_browser(browser: Browser, gallery: str, tmp_path: Path, theme: str, width: int) -> None:
    page = tmp_path / "gallery.html"
    page.write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Gallery</title></head>'
        f'<body style="margin:16px;{THEMES[theme]}"><main><h1>Gallery</h1>{gallery}</main></body></html>',
        encoding="utf-8",
    )
    shown = browser.new_page(viewport={"width": width, "height": 800})
    try:
        problems: list[str] = []
        shown.on("console", lambda message: problems.append(message.text))
        shown.goto(page.as_uri())
        assert shown.locator(".fx-svg").count() == 7 + 2 * len(BROKEN)
        assert not problems
        assert shown.evaluate(OUTSIDE) == []
        assert shown.evaluate(OVERLAPPING) == []
        assert shown.evaluate(SMALLEST) >= 11.99
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        result = Axe().run(shown, options={"resultTypes": ["violations"]})
        assert result.violations_count == 0, result.generate_report()
    finally:
        shown.close()
