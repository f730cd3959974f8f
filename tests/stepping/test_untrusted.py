"""In an untrusted notebook, a drawing is shown as an image, a stepper as its last frame, without text from drawings.

The rules are those by which JupyterLab and the viewers of code hosts sanitise outputs. Both drop scripts and styles
with their text; the tags of an svg, but not its text; ids; and events. JupyterLab keeps inline styles and embedded
images, and code hosts drop them.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Protocol

import pytest
import torch
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page

from fxbook import Lab, draw
from fxbook.plotting.plot import Plot
from tests.browsing import needs_chromium
from tests.stepping.test_edit_in_browser import moved_node
from tests.stepping.test_run_in_browser import block

pytestmark = [needs_chromium, pytest.mark.room(name="site")]

_KEPT = {"align", "alt", "colspan", "height", "open", "scope", "src", "style", "width"}


class Shown(Protocol):
    def _repr_html_(self) -> str: ...


def sanitised(html: str, *, inline: bool) -> str:
    """What remains of an output; ``inline`` keeps style attributes and embedded images."""
    page = BeautifulSoup(html, "html.parser")
    for part in page(["script", "style"]):
        part.decompose()
    for svg in page("svg"):
        svg.replace_with(svg.get_text(" "))
    for part in page(True):
        part.attrs = {name: value for name, value in part.attrs.items() if name in _KEPT}
        if not inline:
            part.attrs.pop("style", None)
            if str(part.get("src", "")).startswith("data:"):
                del part["src"]
    return str(page)


def opened(browser: Browser, stepper: Shown, *, inline: bool) -> Page:
    page = browser.new_page(viewport={"width": 900, "height": 1000})
    page.set_content(f"<!doctype html><main>{sanitised(stepper._repr_html_(), inline=inline)}</main>")
    return page


@pytest.mark.parametrize("inline", [True, False], ids=["JupyterLab", "a code host"])
def test_last_frame_is_readable(browser: Browser, inline: bool) -> None:
    page = opened(browser, moved_node(), inline=inline)
    text = page.locator("main").inner_text()
    assert "2/2 append moves cos behind sin" in " ".join(text.split())
    assert "1/2" not in text, "the earlier frame is folded"
    assert page.locator("table:visible").count() == 1 and page.locator("pre:visible").count() == 1
    assert "stood here" not in text, "a word that only the drawing has"
    page.locator("summary", has_text="The frame before the last").click()
    assert "1/2 cos reads sin" in " ".join(page.locator("main").inner_text().split())
    page.close()


def test_a_run_shows_no_numbers_of_its_plot(browser: Browser) -> None:
    page = opened(browser, block(), inline=True)
    text = " ".join(page.locator("main").inner_text().split())
    assert "Repeat" not in text and "bytes alive" not in text and "0 B" not in text.split("12/12")[0]
    assert "12/12" in text and "11/12" not in text
    page.close()


@pytest.mark.parametrize("build", [moved_node, block])
def test_the_drawings_of_the_last_frame_are_pictures(browser: Browser, build) -> None:
    page = opened(browser, build(), inline=True)
    films = build()._repr_html_().count("<defs>")
    pictures = page.locator("img:visible").all()
    assert len(pictures) == films > 0
    for picture in pictures:
        assert picture.evaluate("image => image.decode().then(() => image.naturalHeight)") > 50
        assert picture.get_attribute("alt")
    page.close()


def drawing() -> Shown:
    return draw(torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU())), "One layer")


def bars() -> Shown:
    svg = ET.fromstring('<svg viewBox="0 0 560 300"><text x="9" y="9">Seconds</text></svg>')
    return Plot(svg, "One second", "A bar of one second.")


@pytest.mark.parametrize("build", [drawing, bars, lambda: Lab.puzzles("both-uses")], ids=["a graph", "a plot", "a lab"])
def test_a_drawing_is_a_picture_and_its_words_are_hidden(browser: Browser, build: Callable[[], Shown]) -> None:
    shown = build()
    page = opened(browser, shown, inline=True)
    for fold in page.locator("summary").all():
        fold.click()
    [picture] = page.locator("img:visible").all()
    assert picture.evaluate("image => image.decode().then(() => image.naturalHeight)") > 50
    assert picture.get_attribute("alt")
    svg = BeautifulSoup(shown._repr_html_(), "html.parser").select_one(".fx-scroll > svg")
    hidden = page.locator("div", has_text=svg.get_text(" ")).last
    assert svg.get_text() and not hidden.is_visible()
    page.set_content(shown._repr_html_())
    for fold in page.locator("summary").all():
        fold.click()
    assert page.locator("img:visible").count() == 0
    page.close()
