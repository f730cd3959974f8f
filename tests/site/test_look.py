"""On a phone, code wraps, the controls of a stepper stay in view, and buttons are large enough."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browsing import needs_chromium

pytestmark = [needs_chromium, pytest.mark.room(name="site")]

PHONE = {"width": 390, "height": 844}
# Whether no line of code is cut off.
ROWS = """() => [...document.querySelectorAll("article div.cell_input pre")]
  .filter(pre => pre.checkVisibility()).every(pre => pre.scrollWidth <= pre.clientWidth)"""


def opened(browser: Browser, book: Path, chapter: str, size: dict[str, int]) -> Page:
    page = browser.new_page(viewport=size, reduced_motion="reduce")
    page.goto((book / f"chapters/{chapter}.html").as_uri())
    return page


@pytest.mark.parametrize("chapter", ["01_node_creation", "08_boxed_run"])
def test_code_wraps_with_a_mark_on_a_phone(browser: Browser, built_book: Path, chapter: str) -> None:
    wide = opened(browser, built_book, chapter, {"width": 1400, "height": 900})
    text = "[...document.querySelectorAll('article div.cell_input pre')].map(pre => pre.textContent)"
    assert wide.locator("article div.cell_input .fx-line").count() == 0
    page = opened(browser, built_book, chapter, PHONE)
    assert page.evaluate(ROWS)
    assert page.evaluate(text) == wide.evaluate(text), "the copied text is the same"
    tall = """lines => lines.filter(line => line.getClientRects().length && line.offsetHeight
      > 1.5 * parseFloat(getComputedStyle(line).lineHeight)).length"""
    assert page.locator("article div.cell_input .fx-line").evaluate_all(tall) > 0
    wide.close()
    page.close()


def test_on_a_page_the_controls_of_a_stepper_stay_in_view(browser: Browser, built_book: Path) -> None:
    page = opened(browser, built_book, "00_first_graph", PHONE)
    root, bar = page.locator(".fx-stepper"), page.locator(".fx-steps")
    page.evaluate("y => scrollBy(0, y)", root.bounding_box()["y"] + root.bounding_box()["height"] / 2)
    assert 0 <= bar.bounding_box()["y"] < 120
    bar.get_by_role("button", name="Next").click()
    assert page.locator(".fx-now .fx-caption").inner_text().startswith("2/")
    page.close()


SMALL = """() => [...document.querySelectorAll("button, .btn, summary, select, input[type=search], .fx-tick")]
  .filter(it => it.checkVisibility({visibilityProperty: true, opacityProperty: true}) && !it.closest(".bd-sidebar"))
  .filter(it => { const {width, height} = it.getBoundingClientRect(); return width && Math.min(width, height) < 44; })
  .map(it => it.outerHTML.slice(0, 200))"""


FINGERS = ["chapters/intro", "exercises/03_replacement", "chapters/reference/exercises", "search"]


@pytest.mark.parametrize("name", FINGERS)
def test_every_button_is_large_enough_for_a_finger(browser: Browser, built_book: Path, name: str) -> None:
    page = browser.new_page(viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto((built_book / f"{name}.html").as_uri())
    assert page.evaluate(SMALL) == []
    if name == "chapters/intro":
        page.locator(".search-button__button >> visible=true").click()
        assert page.locator("#pst-search-dialog").is_visible() and page.evaluate(SMALL) == []
    page.close()
