"""Run steppers in Chromium: stepped by keyboard, the plot's mark moving along, both themes, wide, narrow, no script."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright
from test_run_stepper import Block, chain, trace, two_inputs

from fxbook import RunStepper

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: install it to see steppers in a browser")

THEMES = {"light": "background:#fff;color:#222832", "dark": "background:#14181d;color:#dde3e9;color-scheme:dark"}
Show = Callable[..., Page]
OUTSIDE = """() => [...document.querySelectorAll(".fx-frames > .fx-film .fx-node")].flatMap(node => {
  const box = node.querySelector(".fx-shape").getBBox();
  return [...node.querySelectorAll("text")].filter(text => {
    const t = text.getBBox();
    const wide = t.x < box.x || t.x + t.width > box.x + box.width;
    return wide || t.y < box.y - 1 || t.y + t.height > box.y + box.height + 1;
  }).map(text => text.textContent);
})"""
OVERLAPPING = """() => [...document.querySelectorAll(".fx-frames > .fx-film svg")].flatMap(svg => {
  const texts = [...svg.querySelectorAll("text")]
    .filter(text => getComputedStyle(text).visibility === "visible").map(text => [text, text.getBoundingClientRect()]);
  return texts.flatMap(([a, p], i) => texts.slice(i + 1).filter(([b, q]) =>
    Math.min(p.right, q.right) - Math.max(p.x, q.x) > 1 && Math.min(p.bottom, q.bottom) - Math.max(p.y, q.y) > 4
  ).map(([b]) => [a.textContent, b.textContent]));
})"""
CUT_OFF = """() => [...document.querySelectorAll(".fx-frames > .fx-film svg")].flatMap(svg => {
  const box = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter(text => {
    const t = text.getBoundingClientRect();
    return t.left < box.left - 1 || t.right > box.right + 1 || t.bottom > box.bottom + 1;
  }).map(text => text.textContent);
})"""
MARK = """() => [...document.querySelectorAll(".fx-frames > .fx-film .fx-here")]
  .filter(mark => getComputedStyle(mark).visibility === "visible").map(mark => mark.getBoundingClientRect().x)"""
HEIGHT = "document.querySelector('.fx-stepper').getBoundingClientRect().height"


def block(**options: object) -> RunStepper:
    torch.manual_seed(0)
    with torch.no_grad():
        return RunStepper(trace(Block()), torch.randn(4, 8), torch.randn(4, 8), **options)  # type: ignore[arg-type]


def all_kinds() -> list[RunStepper]:
    """One of each look: one run, two of one graph, of two graphs, one that raises, one in groups, one that failed."""
    four = torch.ones(4)
    return [
        block(),
        block(compare="boxed_run"),
        RunStepper(trace(lambda a: (a + 1).relu() * 2), four, compare=trace(lambda a: (a + 1).relu_())),
        RunStepper(trace(two_inputs), four, torch.ones(3)),
        RunStepper(trace(chain), four, boxed=True),
        RunStepper(trace(two_inputs), four, boxed=True),
    ]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of this file."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Show]:
    """Open a page with steppers; anything in its console, and any request but for the page, is a failure."""
    pages: list[tuple[Page, list[str]]] = []

    def opener(*steppers: RunStepper, theme: str = "light", width: int = 1280, script: bool = True) -> Page:
        body = "".join(stepper._repr_html_() for stepper in steppers)
        file = tmp_path / f"page{len(pages)}.html"
        file.write_text(
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Steppers</title></head>'
            f'<body style="margin:8px;{THEMES[theme]}"><main><h1>Steppers</h1>{body}</main></body></html>',
            encoding="utf-8",
        )
        context = browser.new_context(
            viewport={"width": width, "height": 800}, java_script_enabled=script, reduced_motion="reduce"
        )
        page = context.new_page()
        troubles: list[str] = []
        page.on("console", lambda said: troubles.append(said.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: request.url == file.as_uri() or troubles.append(request.url))
        page.goto(file.as_uri())
        pages.append((page, troubles))
        return page

    yield opener
    for page, troubles in pages:
        assert troubles == []
        page.context.close()


def test_to_the_end_by_keyboard_with_the_mark_in_the_plot(show: Show) -> None:
    page = show(block(compare="boxed_run"))
    caption = page.locator(".fx-now .fx-caption")
    page.locator("input[type=range]").focus()
    height, marks = page.evaluate(HEIGHT), page.evaluate(MARK)
    for at in range(2, 13):
        page.keyboard.press("ArrowRight")
        assert caption.inner_text().startswith(f"{at}/12")
        (mark,) = page.evaluate(MARK)
        assert mark > marks[-1]
        marks.append(mark)
        assert page.evaluate(HEIGHT) == height
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


def test_a_row_marks_its_node_and_who_reads_it(show: Show) -> None:
    page = show(block())
    page.locator(".fx-now tr[data-fx-name=mul]").hover()
    hot = page.locator(".fx-frames > .fx-film .fx-node.fx-hot:visible")
    assert hot.evaluate_all("parts => parts.map(part => part.dataset.fxNode)") == ["6"]
    status = page.locator(".fx-status").inner_text()
    assert status.startswith("mul reads outer, scale")
    assert "is read by where" in status


def test_nodes_of_two_graphs_are_told_apart(show: Show) -> None:
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


def test_without_script_all_frames_stand_stacked(show: Show) -> None:
    page = show(block(), script=False)
    assert page.locator(".fx-caption:visible").count() == 12
    assert page.locator("svg.fx-svg[role=img]:visible").count() == 24
    assert page.locator("table:visible").count() == 24
    assert page.get_by_role("button").count() == 0


def test_without_style_script_and_svg_the_tables_tell_it(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content(block()._repr_html_())
    page.evaluate("document.querySelectorAll('style, script, svg').forEach(part => part.remove())")
    text = " ".join(page.inner_text("body").split())
    assert "Freed after it: inner. Alive now: 512 B." in text
    assert "run's arguments hold it" in text
    page.close()
