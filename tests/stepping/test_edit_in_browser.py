"""Edit steppers in Chromium: keys, mouse, linked marks, both themes, all widths, paper, and no JavaScript."""

from __future__ import annotations

import itertools

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page
from torch import fx

from fxbook import EditStepper
from tests.browsing import FILM, STEPPER_HEIGHT, THEMES, needs_chromium, texts_outside_their_box, texts_that_overlap
from tests.stepping.test_edit_stepper import traced, twelve_nodes_eight_frames

pytestmark = [needs_chromium, pytest.mark.room(name="site")]

# The visible nodes from top to bottom, each as [key, top, bottom].
ROWS = """() => [...document.querySelectorAll(".fx-frames > .fx-film .fx-node")]
  .filter(node => getComputedStyle(node).visibility === "visible")
  .map(node => [node.dataset.fxNode, node.querySelector(".fx-shape").getBoundingClientRect()])
  .map(([key, {top, bottom}]) => [key, top, bottom]).sort((one, other) => one[1] - other[1])"""
# The largest distance from the head of an arrow to the nearest node.
LOOSE = """() => Math.max(...[...document.querySelectorAll(".fx-frames > .fx-film .fx-head")]
  .filter(head => getComputedStyle(head).visibility === "visible").map(head => {
    const {x, y, width, height} = head.getBoundingClientRect();
    return Math.min(...[...document.querySelectorAll(".fx-frames > .fx-film .fx-shape")]
      .filter(shape => getComputedStyle(shape).visibility === "visible").map(shape => {
        const box = shape.getBoundingClientRect();
        return Math.max(box.left - x - width, x - box.right, box.top - y - height, y - box.bottom, 0);
      }));
  }))"""
OUTSIDE = texts_outside_their_box(FILM)
OVERLAPPING = texts_that_overlap(FILM)


def moved_node() -> EditStepper:
    graph = fx.Graph()
    x = graph.placeholder("x")
    late, early = graph.call_function(torch.cos, (x,)), graph.call_function(torch.sin, (x,))
    late.args = (early,)
    graph.output(late)
    steps = EditStepper(graph, "cos reads sin, which stands behind it", title="Repair the order")
    early.append(late)
    steps.frame("append moves cos behind sin")
    return steps


def caption(page: Page) -> str:
    return page.locator(".fx-now .fx-caption").inner_text()


def test_keyboard_steps_to_the_end_without_jumps(show) -> None:
    page = show(twelve_nodes_eight_frames())
    page.locator("input[type=range]").focus()
    # On this element, JupyterLab looks for the attribute that turns off its shortcuts, such as B for a new cell.
    assert page.evaluate("document.activeElement.hasAttribute('data-lm-suppress-shortcuts')")
    rows, height = page.evaluate(ROWS), page.evaluate(STEPPER_HEIGHT)
    for at in range(2, 9):
        page.keyboard.press("ArrowRight")
        assert caption(page).startswith(f"{at}/8")
        later = page.evaluate(ROWS)
        both = {key for key, *_ in rows} & {key for key, *_ in later}
        kept = [[key for key, *_ in frame if key in both] for frame in (rows, later)]
        assert kept[0] == kept[1], "nodes that were not moved keep their order"
        gaps = [below[1] - above[2] for above, below in itertools.pairwise(later)]
        assert min(gaps) > 0 and max(gaps) < 40, "there is no room for nodes that come later"
        assert page.evaluate(LOOSE) < 2
        assert page.evaluate(STEPPER_HEIGHT) == height
        assert page.evaluate(OVERLAPPING) == []
        rows = later
    page.keyboard.press("ArrowRight")
    assert caption(page).startswith("8/8")
    page.keyboard.press("Home")
    assert caption(page).startswith("1/8")
    page.locator("tr[data-fx-node]:visible").first.focus()
    page.keyboard.press("End")
    assert caption(page).startswith("8/8") and page.evaluate("document.activeElement.matches('.fx-now tr')")
    page.keyboard.press("ArrowLeft")
    assert caption(page).startswith("7/8") and page.evaluate("document.activeElement.matches('.fx-now tr')")
    assert page.locator("input[type=range]").get_attribute("aria-valuetext").startswith("7 of 8 ")
    assert page.locator("[aria-live=polite]").inner_text().startswith("Frame 7 of 8")


def test_to_the_end_by_mouse_slider_and_play(show) -> None:
    page = show(twelve_nodes_eight_frames())
    for at in range(2, 9):
        page.get_by_role("button", name="Next").click()
        assert caption(page).startswith(f"{at}/8")
    assert page.get_by_role("button", name="Next").get_attribute("aria-disabled") == "true"
    page.get_by_role("button", name="Back").click()
    assert caption(page).startswith("7/8")
    page.get_by_role("slider").fill("3")
    assert caption(page).startswith("3/8")
    page.clock.install()
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(3000)
    assert caption(page).startswith("4/8")
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(9000)
    assert caption(page).startswith("4/8")


def marked(page: Page, kind: str) -> set[str]:
    """The keys with this mark, which must be the same in the drawing and the table."""
    keys = "parts => parts.map(part => part.dataset.fxNode)"
    drawn = page.locator(f".fx-frames > .fx-film .fx-node.{kind}:visible").evaluate_all(keys)
    listed = page.locator(f".fx-now tr.{kind}").evaluate_all(keys)
    assert set(drawn) == set(listed)
    return set(listed)


def test_a_node_its_row_and_its_line_of_code_highlight_each_other(show) -> None:
    page = show(EditStepper(traced(), "The block"), moved_node())
    page = page.locator(".fx-stepper").first
    keys = {
        row.get_attribute("data-fx-name"): row.get_attribute("data-fx-node")
        for row in page.locator("tr[data-fx-node]").all()
    }
    relu, linear, add = (keys[name] for name in ("relu", "linear", "add"))
    node = page.locator(f".fx-frames > .fx-film .fx-node[data-fx-node='{relu}']")
    row, line = (page.locator(f".fx-now {part}[data-fx-node='{relu}']") for part in ("tr", ".fx-row:not(tr)"))
    for part, event in (
        (node, "hover"),
        (row, "hover"),
        (line, "hover"),
        (row, "focus"),
        (node, "click"),
        (node, "focus"),
    ):
        page.locator(".fx-title").click()
        assert marked(page, "fx-hot") == set()
        getattr(part, event)()
        assert marked(page, "fx-hot") == {relu}, event
        assert marked(page, "fx-in") == {linear} and marked(page, "fx-out") == {add}
        assert page.locator(".fx-code .fx-hot").count() == 1
        assert page.locator(".fx-edge.fx-hot").count() == 2
    status = page.locator(".fx-status").inner_text()
    assert status == "relu uses linear (dashed); is used by add (dotted)."
    page.locator(".fx-now tbody tr").first.press("ArrowDown")
    assert marked(page, "fx-hot") == {linear}
    page.page.keyboard.press("Escape")
    assert marked(page, "fx-hot") == set()


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("theme", THEMES)
def test_themes_and_widths(show, theme: str, width: int) -> None:
    page = show(moved_node(), EditStepper(traced(), "only one frame"), theme=theme, width=width)
    page.get_by_role("button", name="Next").click()
    page.locator(".fx-now tr[data-fx-node]").nth(1).focus()
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUTSIDE) == [] and page.evaluate(OVERLAPPING) == []
    drawing, table = page.locator(".fx-frames > .fx-film").first, page.locator(".fx-now table").first
    if width == 1280:
        left, right = drawing.bounding_box(), table.bounding_box()
        assert right["x"] > left["x"] + left["width"] - 1
    else:
        assert drawing.is_visible() and not table.is_visible()
        page.get_by_role("button", name="List").first.click()
        assert table.is_visible() and not drawing.is_visible()
    result = Axe().run(page, options={"resultTypes": ["violations"]})
    assert result.violations_count == 0, result.generate_report()


def test_a_moved_node_leaves_a_ghost_and_an_arrow(show) -> None:
    page = show(moved_node())
    seen = "parts => parts.filter(part => getComputedStyle(part).visibility === 'visible').length"
    assert page.locator(".fx-frames > .fx-film .fx-ghost").evaluate_all(seen) == 0
    page.get_by_role("button", name="Next").click()
    assert page.locator(".fx-frames > .fx-film .fx-ghost").evaluate_all(seen) == 1
    assert page.locator(".fx-frames > .fx-film .fx-jump").is_visible()


def test_without_javascript_all_frames_are_stacked(show) -> None:
    page = show(twelve_nodes_eight_frames(), script=False)
    assert page.locator(".fx-caption:visible").count() == 8
    assert page.locator("table:visible").count() == 8 and page.locator("svg.fx-svg[role=img]:visible").count() == 8
    assert page.get_by_role("button").count() == 0
    tops = [box.bounding_box()["y"] for box in page.locator(".fx-frame").all()]
    assert tops == sorted(tops)


def test_on_paper_all_frames_are_stacked(show) -> None:
    page = show(twelve_nodes_eight_frames())
    page.emulate_media(media="print")
    assert page.locator(".fx-caption:visible").count() == 8
    assert page.locator(".fx-frame svg.fx-svg:visible").count() == 8 and page.locator(".fx-title").is_visible()
    assert not page.locator(".fx-steps").is_visible() and not page.locator(".fx-frames > .fx-film").is_visible()


def test_steppers_that_are_added_later_start_and_none_starts_twice(show) -> None:
    page = show(moved_node())
    html = moved_node()._repr_html_()
    page.evaluate("html => document.querySelector('main').insertAdjacentHTML('beforeend', html)", html)
    page.wait_for_function("document.querySelectorAll('.fx-live').length === 2")
    page.evaluate(
        """() => document.querySelectorAll(".fx-stepper > script").forEach(old => {
          const script = document.createElement("script");
          script.textContent = old.textContent;
          old.replaceWith(script);
        })"""
    )
    assert page.locator(".fx-bar").count() == 2 and page.locator(".fx-frames > .fx-film").count() == 2
    second = page.locator(".fx-stepper").nth(1)
    second.get_by_role("button", name="Next").click()
    assert second.locator(".fx-now .fx-caption").inner_text().startswith("2/2")
    assert page.locator(".fx-stepper").first.locator(".fx-now .fx-caption").inner_text().startswith("1/2")
