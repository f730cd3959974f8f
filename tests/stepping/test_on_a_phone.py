"""On a phone, a stepper keeps its controls in view, shows one panel at a time, and fits one and a half screens."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page

from fxbook import EditStepper, RunStepper
from tests.browsing import STEPPER_HEIGHT, needs_chromium
from tests.stepping.test_edit_stepper import twelve_nodes_eight_frames
from tests.stepping.test_run_in_browser import block

pytestmark = [needs_chromium, pytest.mark.room(name="site")]

WIDTH, HEIGHT = 390, 844


def phone(browser: Browser, stepper: EditStepper | RunStepper) -> Page:
    page = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, has_touch=True).new_page()
    room = "<div style='height:1500px'></div>"
    page.set_content(f"<!doctype html><main>{room}{stepper._repr_html_()}{room}</main>")
    return page


@pytest.mark.parametrize("build", [twelve_nodes_eight_frames, lambda: block(compare="boxed_run")])
def test_each_panel_alone_and_never_more_than_one_and_a_half_screens(browser: Browser, build) -> None:
    page = phone(browser, build())
    tabs = page.locator(".fx-tabs button")
    assert tabs.count() >= 3
    assert page.locator(".fx-tabs [aria-pressed=true]").inner_text() == "Graph"
    for tab in tabs.all():
        tab.click()
        assert page.locator(".fx-tabs [aria-pressed=true]").all_inner_texts() == [tab.inner_text()]
        shown = page.locator(":is(.fx-now > .fx-panel:not(.fx-film), .fx-frames > .fx-film):visible")
        assert [panel.get_attribute("data-fx-tab") for panel in shown.all()] == [tab.inner_text()]
        assert page.evaluate(STEPPER_HEIGHT) <= 1.5 * HEIGHT, tab.inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    page.context.close()


def test_the_controls_stay_in_view(browser: Browser) -> None:
    page = phone(browser, twelve_nodes_eight_frames())
    stepper, bar = page.locator(".fx-stepper"), page.locator(".fx-steps")
    top, height = stepper.bounding_box()["y"], stepper.bounding_box()["height"]
    for part in (0.2, 0.5, 0.8):
        page.evaluate("y => scrollTo(0, y)", top + part * height)
        box = bar.bounding_box()
        assert -1 <= box["y"] < 10, part
        # Nothing covers the controls.
        page.touchscreen.tap(box["x"] + 100, box["y"] + 20)
    assert page.locator(".fx-now .fx-caption").inner_text().startswith("4/8")
    page.context.close()


SWIPE = """([target, from, to]) => {
  const at = ([clientX, clientY]) => new Touch({identifier: 1, target, clientX, clientY});
  const send = (type, touches, changedTouches) => target.dispatchEvent(
    new TouchEvent(type, {bubbles: true, cancelable: true, touches, changedTouches}));
  send("touchstart", [at(from)], [at(from)]);
  return send("touchend", [], [at(to)]);
}"""


def test_a_swipe_over_the_drawing_steps_and_one_that_scrolls_does_not(browser: Browser) -> None:
    page = phone(browser, twelve_nodes_eight_frames())

    def swiped(selector: str, right: int, down: int) -> str:
        target = page.locator(selector).first.element_handle()
        assert page.evaluate(SWIPE, [target, [200, 300], [200 + right, 300 + down]]), (
            "the browser still does what it does by default"
        )
        return page.locator(".fx-now .fx-count").inner_text()

    drawing = ".fx-frames > .fx-film .fx-node"
    assert swiped(drawing, -90, 10) == "2/8"
    assert swiped(drawing, 90, 10) == "1/8"
    assert swiped(drawing, -90, 120) == swiped(drawing, -20, 0) == "1/8"
    assert swiped(".fx-now .fx-caption", -90, 0) == "1/8", "this gesture selects text"
    page.locator(".fx-frames > .fx-film .fx-scroll").evaluate("box => { box.style.width = '100px'; }")
    assert swiped(drawing, -90, 0) == "1/8", "the drawing itself scrolls sideways"
    page.context.close()


def test_buttons_are_large_enough(browser: Browser) -> None:
    page = phone(browser, twelve_nodes_eight_frames())
    boxes = [button.bounding_box() for button in page.locator(".fx-bar :is(button, input)").all()]
    assert len(boxes) == 7 and min(min(box["width"], box["height"]) for box in boxes) >= 44
    page.context.close()
