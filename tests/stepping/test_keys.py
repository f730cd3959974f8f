"""The keys n and p step the stepper in view, arrows step the focused one, and the page's own keys keep working."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from fxbook import EditStepper
from tests.browsing import needs_chromium
from tests.stepping.test_edit_in_browser import moved_node
from tests.stepping.test_edit_stepper import traced, twelve_nodes_eight_frames

pytestmark = [needs_chromium, pytest.mark.room(name="site")]

# Like the book, the page navigates on arrow keys unless something else has used the key.
NAVIGATION = """() => {
  window.went = [];
  document.addEventListener("keydown", event => {
    if (!event.defaultPrevented && event.key.startsWith("Arrow")) window.went.push(event.key);
  });
}"""
FAR_APART = """() => {
  document.querySelectorAll(".fx-stepper").forEach(root => { root.style.marginBottom = "2000px"; });
  const field = document.createElement("input");
  document.querySelector("main").prepend(field);
}"""


def captions(page: Page) -> list[str]:
    """The number of the current frame of each stepper, or its caption if it has only one."""
    return [text.split("/")[0] for text in page.locator(".fx-now .fx-caption").all_inner_texts()]


@pytest.fixture
def page(show) -> Page:
    """Two distant steppers, and a text field."""
    page = show(twelve_nodes_eight_frames(), moved_node(), EditStepper(traced(), "one frame"))
    page.evaluate(FAR_APART)
    page.evaluate(NAVIGATION)
    return page


def test_n_and_p_step_the_stepper_in_view(page: Page) -> None:
    for key in "nnp":
        page.keyboard.press(key)
    assert captions(page) == ["2", "1", "one frame"]
    page.locator(".fx-stepper").nth(1).scroll_into_view_if_needed()
    page.keyboard.press("n")
    assert captions(page) == ["2", "2", "one frame"]
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.keyboard.press("p")
    assert captions(page) == ["2", "2", "one frame"], "the stepper in view has one frame, or no stepper is in view"


def test_n_and_p_are_letters_in_text_fields(page: Page) -> None:
    page.locator("main > input").press_sequentially("np")
    assert page.locator("main > input").input_value() == "np"
    page.locator("main > input").blur()
    for key in ("Control+n", "Alt+n", "Meta+n", "Shift+N"):
        page.evaluate(
            """key => document.body.dispatchEvent(new KeyboardEvent("keydown", {
              key: "n", bubbles: true, cancelable: true, ctrlKey: key.startsWith("Control"),
              altKey: key.startsWith("Alt"), metaKey: key.startsWith("Meta"), shiftKey: key.startsWith("Shift")}))""",
            key,
        )
    assert captions(page)[0] == "1"


def test_arrows_step_the_focused_stepper_and_otherwise_reach_the_page(page: Page) -> None:
    page.keyboard.press("ArrowRight")
    assert (captions(page)[0], page.evaluate("went")) == ("1", ["ArrowRight"])
    for place in ("button:text('Next')", "input[type=range]", ".fx-now tr[data-fx-node]"):
        before = int(captions(page)[0])
        page.locator(f".fx-stepper >> nth=0 >> {place}").first.focus()
        page.keyboard.press("ArrowRight")
        assert int(captions(page)[0]) == before + 1, place
    page.keyboard.press("n")
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    assert captions(page)[0] == "8"
    assert page.evaluate("went") == ["ArrowRight"], "only the key that was pressed outside a stepper"
