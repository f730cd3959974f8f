"""Run steppers in Chromium: keys, the mark that moves in the plot, both themes, all widths, and no JavaScript."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from fxbook import RunStepper
from tests.browsing import FILM, STEPPER_HEIGHT, THEMES, needs_chromium, texts_outside_their_box, texts_that_overlap
from tests.stepping.test_run_stepper import Block, chain, trace, two_inputs

pytestmark = [needs_chromium, pytest.mark.room(name="site")]

Show = Callable[..., Page]
OUTSIDE = texts_outside_their_box(FILM)
OVERLAPPING = texts_that_overlap(FILM)
CUT_OFF = """() => [...document.querySelectorAll(".fx-frames > .fx-film svg")].flatMap(svg => {
  const box = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter(text => {
    const t = text.getBoundingClientRect();
    return t.left < box.left - 1 || t.right > box.right + 1 || t.bottom > box.bottom + 1;
  }).map(text => text.textContent);
})"""
MARK = """() => [...document.querySelectorAll(".fx-frames > .fx-film .fx-here")]
  .filter(mark => getComputedStyle(mark).visibility === "visible").map(mark => mark.getBoundingClientRect().x)"""


def block(**options: object) -> RunStepper:
    torch.manual_seed(0)
    with torch.no_grad():
        return RunStepper(trace(Block()), torch.randn(4, 8), torch.randn(4, 8), **options)  # type: ignore[arg-type]


def all_kinds() -> list[RunStepper]:
    """One of each kind: one run, two runs of one graph, two graphs, an error, groups of nodes, and a failed run."""
    four = torch.ones(4)
    return [
        block(),
        block(compare="boxed_run"),
        RunStepper(trace(lambda a: (a + 1).relu() * 2), four, compare=trace(lambda a: (a + 1).relu_())),
        RunStepper(trace(two_inputs), four, torch.ones(3)),
        RunStepper(trace(chain), four, boxed=True),
        RunStepper(trace(two_inputs), four, boxed=True),
    ]


def test_to_the_end_by_keyboard_with_the_mark_in_the_plot(show: Show) -> None:
    page = show(block(compare="boxed_run"))
    caption = page.locator(".fx-now .fx-caption")
    page.locator("input[type=range]").focus()
    height, marks = page.evaluate(STEPPER_HEIGHT), page.evaluate(MARK)
    for at in range(2, 13):
        page.keyboard.press("ArrowRight")
        assert caption.inner_text().startswith(f"{at}/12")
        (mark,) = page.evaluate(MARK)
        assert mark > marks[-1]
        marks.append(mark)
        assert page.evaluate(STEPPER_HEIGHT) == height
        assert page.evaluate(OVERLAPPING) == []
    assert "Alive now: run 260 B, boxed_run 4 B." in caption.inner_text()
    page.keyboard.press("Home")
    assert page.evaluate(MARK) == marks[:1]


def test_the_current_node_and_the_states_are_drawn(show: Show) -> None:
    page = show(block())
    visible = "parts => parts.filter(p => getComputedStyle(p).visibility === 'visible').map(p => p.dataset.fxNode)"

    def drawn(kind: str) -> list[str]:
        return page.locator(f".fx-frames > .fx-film .fx-node.{kind}").evaluate_all(visible)

    for _ in range(3):
        page.get_by_role("button", name="Next").click()
    assert drawn("fx-current") == ["3"]
    assert drawn("fx-is-kept") == ["0"]
    assert drawn("fx-is-alive") == ["1"]
    assert drawn("fx-is-freed") == ["2"]
    assert drawn("fx-is-later") == [str(at) for at in range(4, 12)]


def test_nodes_of_two_graphs_are_distinguished(show: Show) -> None:
    four = torch.ones(4)
    page = show(RunStepper(trace(lambda a: a + 1), four, compare=trace(lambda a: a * 2)))
    page.locator(".fx-now tr[data-fx-name=mul]").hover()
    assert page.locator(".fx-frames > .fx-film .fx-node.fx-hot:visible").count() == 1


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("theme", THEMES)
def test_themes_and_widths(show: Show, theme: str, width: int) -> None:
    page = show(*all_kinds(), theme=theme, width=width)
    for at in range(5):
        page.locator(".fx-stepper").nth(at).get_by_role("button", name="Next").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(OVERLAPPING) == []
    assert page.evaluate(CUT_OFF) == []
    result = Axe().run(page, options={"resultTypes": ["violations"]})
    assert result.violations_count == 0, result.generate_report()
