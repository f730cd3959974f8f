"""In Chromium, light and dark, wide and narrow, no text of a drawing overflows or overlaps, and axe accepts it."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from fxbook.drawing import Drawing, draw
from tests.browsing import THEMES, needs_chromium, texts_outside_their_box, texts_that_overlap
from tests.drawing.graphs import BROKEN, chain, residual

pytestmark = [needs_chromium, pytest.mark.room(name="site")]

OUTSIDE = texts_outside_their_box()
OVERLAPPING = texts_that_overlap()
SMALLEST = """() => Math.min(...[...document.querySelectorAll(".fx-svg")].map(
  svg => 12.5 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width))"""


@pytest.fixture(scope="module")
def gallery() -> list[Drawing]:
    marks = {"linear": "moved", "relu": ["added", "rewired"], "mul": "removed", "where": "broken"}
    drawings = [draw(residual()), draw(residual(), "With marks", marks), draw(chain(40, 9)), draw(chain(500, 30))]
    drawings += [draw(residual(), "By data, with marks", marks, "data")]
    drawings += [draw(chain(count, skip), order="data") for count, skip in ((40, 9), (500, 30))]
    return [*drawings, *(draw(build(), build.__name__, order=order) for order in ("list", "data") for build in BROKEN)]


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("theme", THEMES)
def test_drawings_in_a_browser(show, gallery: list[Drawing], theme: str, width: int) -> None:
    page = show(*gallery, theme=theme, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    assert page.locator(".fx-svg").count() == len(gallery)
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(OVERLAPPING) == []
    assert page.evaluate(SMALLEST) >= 11.99
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    result = Axe().run(page, options={"resultTypes": ["violations"]})
    assert result.violations_count == 0, result.generate_report()
