"""Arrow keys turn pages unless something else uses them, the contents follow the text, and progress is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page

from fxbook.catalogue import catalogue, of_chapters
from tests.browsing import needs_chromium
from tests.site.pages import PAGES
from tests.site.serving import served

pytestmark = [needs_chromium, pytest.mark.room(name="site")]

CHAPTER, EXERCISES, BEFORE = "chapters/03_replacement", "exercises/03_replacement", "exercises/02_insertion_points"
KEY = "torch-fx-node-by-node"
LINK = "nav.bd-docs-nav a[href$='{}']"


@pytest.fixture(scope="module")
def address(built_book: Path) -> Iterator[str]:
    with served(built_book) as found:
        yield found


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser of a new reader, with nothing stored."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, reduced_motion="reduce")
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    yield page
    assert troubles == []


def here(page: Page, address: str) -> str:
    return page.url.removeprefix(address).partition("#")[0].removesuffix(".html")


# ---- Keys ------------------------------------------------------------------------------------------------------------


def test_right_and_left_turn_the_page(page: Page, address: str) -> None:
    page.goto(f"{address}{CHAPTER}.html")
    page.keyboard.press("ArrowRight")
    page.wait_for_url(f"**/{EXERCISES}.html")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(f"**/{CHAPTER}.html")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(f"**/{BEFORE}.html")


# Count page turns, and prevent them.
TURNED = """() => {
  window.turned = 0;
  navigation.onnavigate = event => { window.turned += 1; event.preventDefault(); };
}"""


@pytest.mark.parametrize(
    "prepare",
    {
        "a field": "document.body.insertAdjacentHTML('afterbegin', '<input id=probe>')",
        "text that is edited": "document.body.insertAdjacentHTML('afterbegin', '<p id=probe contenteditable>x</p>')",
        "a choice": "document.body.insertAdjacentHTML('afterbegin', '<select id=probe><option>x</select>')",
        "a slider": "document.body.insertAdjacentHTML('afterbegin', '<div id=probe tabindex=0 role=slider></div>')",
        "what scrolls sideways": "document.body.insertAdjacentHTML('afterbegin', '<pre id=probe tabindex=0 "
        'style="width:100px;overflow-x:auto">' + "x" * 400 + "</pre>')",
        "a handler of the key": "document.body.insertAdjacentHTML('afterbegin', '<p id=probe tabindex=0>x</p>'); "
        "document.querySelector('#probe').addEventListener('keydown', event => event.preventDefault())",
        "an open dialog": "document.body.insertAdjacentHTML('afterbegin', '<dialog id=probe tabindex=0>x</dialog>'); "
        "document.querySelector('#probe').showModal()",
    }.values(),
)
def test_keys_in_use_turn_no_page(page: Page, address: str, prepare: str) -> None:
    page.goto(f"{address}{CHAPTER}.html")
    page.evaluate(prepare)
    page.locator("#probe").focus()
    page.evaluate(TURNED)
    page.keyboard.press("ArrowRight")
    assert page.evaluate("turned") == 0
    page.evaluate("document.querySelector('#probe').remove()")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("turned") == 1


def test_a_list_of_the_keys_opens_and_closes(page: Page, address: str) -> None:
    for name in (CHAPTER, "book/setup", "search"):
        page.goto(f"{address}{name}.html")
        page.locator("body").click(position={"x": 5, "y": 5})
        page.keyboard.press("?")
        keys = page.get_by_role("dialog", name="Keys")
        assert {"←", "→", "/", "?", "n", "p", "Esc"} <= set(keys.locator("kbd").all_inner_texts())
        assert Axe().run(page, context="dialog[open]").response["violations"] == []
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Escape")
        keys.wait_for(state="detached")
        assert here(page, address) == name
    page.goto(f"{address}{CHAPTER}.html")
    page.locator(".fx-show-keys").click()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("dialog").wait_for(state="detached")


def test_a_slash_leads_to_the_search(page: Page, address: str) -> None:
    page.goto(f"{address}{CHAPTER}.html")
    page.keyboard.press("/")
    page.wait_for_function("document.activeElement.matches('input[type=search]')")
    page.keyboard.press("?")
    assert page.evaluate("document.activeElement.value") == "?", "in a text field, keys are letters"


# ---- The sidebar, and the button to the top --------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1000, 1400, 1920])
def test_a_hidden_sidebar_stays_hidden_and_the_text_keeps_its_distance(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{address}{CHAPTER}.html")
    sidebar, text = page.locator("#pst-primary-sidebar"), page.locator("article h1")
    page.locator(".primary-toggle").click()
    assert not sidebar.is_visible() and text.bounding_box()["x"] >= 20
    # At the first paint, before any script of the site runs.
    page.route("**/site.js*", lambda route: route.abort())
    page.goto(f"{address}{EXERCISES}.html")
    assert not sidebar.is_visible() and text.bounding_box()["x"] >= 20
    page.unroute("**/site.js*")
    page.goto(f"{address}{EXERCISES}.html")
    page.locator(".primary-toggle").click()
    assert sidebar.is_visible()
    page.goto(f"{address}{CHAPTER}.html")
    assert sidebar.is_visible()


SCROLLED = """top => new Promise(done => {
  scrollTo(0, top);
  requestAnimationFrame(() => requestAnimationFrame(done));
})"""
COVERED = """() => {
  const button = document.querySelector("#pst-back-to-top"), {top, bottom} = button.getBoundingClientRect();
  return getComputedStyle(button).display !== "none" && getComputedStyle(button).visibility === "visible"
    && [...document.querySelectorAll(".fx-stepper")].some(stepper => {
      const box = stepper.getBoundingClientRect();
      return box.top < bottom && box.bottom > top;
    });
}"""


def test_the_button_to_the_top_covers_no_stepper(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{address}{CHAPTER}.html")
    shown = 0
    for top in range(int(page.evaluate("document.documentElement.scrollHeight")), 0, -300):
        page.evaluate(SCROLLED, top)
        page.wait_for_function(f"!({COVERED})()")
        shown += page.locator("#pst-back-to-top").is_visible()
    assert shown > 3


# ---- Contents --------------------------------------------------------------------------------------------------------


ENTRY_IN_VIEW = """anchor => {
  const link = [...document.querySelectorAll("#pst-page-toc-nav .nav-link.active")].pop();
  const {top, bottom} = link ? link.getBoundingClientRect() : {};
  return link && link.hash === anchor && top >= 0 && bottom <= innerHeight;
}"""


def test_the_contents_keep_the_section_in_view(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1400, "height": 420})
    page.goto(f"{address}chapters/when_it_breaks/05_control_flow_limits.html")
    for heading in page.locator("article h3").all()[::6]:
        section = heading.evaluate("heading => heading.closest('section').id")
        heading.evaluate("heading => scrollTo(0, heading.getBoundingClientRect().top + scrollY - 80)")
        page.wait_for_function(ENTRY_IN_VIEW, arg=f"#{section}")


def test_no_entry_of_the_contents_is_cut_off(page: Page, address: str) -> None:
    ends = """() => [...document.querySelectorAll(".bd-sidebar-secondary .nav-link")]
      .map(link => link.getBoundingClientRect().right)"""
    for name in PAGES:
        page.goto(f"{address}{name}.html")
        assert max(page.evaluate(ends), default=0) <= 1400, name


# ---- Memory ----------------------------------------------------------------------------------------------------------


def today() -> str:
    """Today's date in the format that the site stores."""
    return datetime.now().date().isoformat()


def kept(page: Page) -> dict:
    return json.loads(page.evaluate(f"localStorage.getItem('{KEY}')") or "{}")


def read_through(page: Page, until: float = 1.0) -> None:
    """Scroll through a page like a reader, while the page's clock runs."""
    height = page.evaluate("document.documentElement.scrollHeight")
    for top in range(0, int(height * until), 500):
        page.evaluate(f"scrollTo(0, {top})")
        page.clock.run_for(1100)


def test_a_page_is_marked_once_it_was_read_to_the_end(page: Page, address: str) -> None:
    page.clock.install()
    page.goto(f"{address}book/setup.html")
    read_through(page, 0.3)
    assert "book/setup" not in kept(page).get("read", {})
    page.goto(f"{address}chapters/intro.html")
    page.goto(f"{address}book/setup.html")
    read_through(page)
    assert kept(page)["read"] == {"book/setup": today()}, "the rest was read on another visit"
    assert page.locator(".fx-read-box input").is_checked()
    page.goto(f"{address}chapters/intro.html")
    assert page.locator(LINK.format("book/setup.html")).inner_text().endswith("(read)")
    assert page.locator("nav.bd-docs-nav a.fx-read").count() == 1


def test_declined_question_is_not_repeated(page: Page, address: str) -> None:
    page.clock.install()
    page.goto(f"{address}book/setup.html")
    box = page.locator(".fx-read-box input")
    box.check()
    assert kept(page)["read"] == {"book/setup": today()}
    box.uncheck()
    read_through(page)
    assert kept(page)["read"] == {"book/setup": False} and not box.is_checked()


def test_ticked_exercises_are_counted_for_the_chapter_and_the_book(page: Page, address: str) -> None:
    page.goto(f"{address}{EXERCISES}.html")
    boxes, ids = page.locator(".fx-meta .fx-tick input"), [one.id for one in of_chapters()["03_replacement"]]
    assert boxes.count() == len(ids)
    boxes.nth(0).check()
    boxes.nth(2).check()
    assert kept(page)["solved"] == {ids[0]: today(), ids[2]: today()}
    page.goto(f"{address}{CHAPTER}.html")
    row = page.locator(LINK.format(f"{EXERCISES}.html"))
    assert f"2 of {len(ids)}" in row.inner_text()
    assert f"solved 2 of {len(catalogue())} exercises" in page.locator("#fx-memory").inner_text()
    page.goto(f"{address}{EXERCISES}.html")
    assert [box.is_checked() for box in boxes.all()][:3] == [True, False, True]
    boxes.nth(0).uncheck()
    assert f"1 of {len(ids)}" in page.locator("nav.bd-docs-nav a[aria-current=page]").inner_text()


def test_progress_can_be_deleted_and_restored(page: Page, address: str) -> None:
    page.clock.install()
    page.goto(f"{address}{EXERCISES}.html")
    page.locator(".fx-meta .fx-tick input").first.check()
    page.locator(".fx-read-box input").check()
    before = kept(page)
    page.locator("#fx-memory summary").click()
    assert "Nothing is sent" in page.locator("#fx-memory").inner_text()
    page.locator("#fx-memory button").click()
    page.clock.run_for(1500)  # Longer than the page waits before it checks the screen again.
    assert kept(page) == {} and not page.locator(".fx-read-box input").is_checked()
    assert page.locator("nav.bd-docs-nav a.fx-read").count() == 0
    page.locator("#fx-memory button").click()
    assert kept(page) == before and page.locator(".fx-read-box input").is_checked()


def test_a_solved_puzzle_is_marked_until_the_progress_is_deleted(page: Page, address: str) -> None:
    page.goto(f"{address}chapters/reference/graph_lab.html")
    summary = page.locator("[data-fx-puzzle=one-anchor] > details > summary")
    page.evaluate("document.dispatchEvent(new CustomEvent('fx-solved', {detail: 'one-anchor'}))")
    page.reload()
    assert "✓ solved" in summary.inner_text() and kept(page)["puzzles"] == {"one-anchor": today()}
    page.evaluate("localStorage.clear()")
    page.reload()
    assert "solved" not in summary.inner_text()


def test_the_first_puzzle_not_yet_solved_is_open(page: Page, address: str) -> None:
    def opened() -> list[str]:
        page.reload()
        return page.locator("[data-fx-puzzle]:has(> details[open])").evaluate_all(
            "all => all.map((lab) => lab.dataset.fxPuzzle)"
        )

    page.goto(f"{address}chapters/reference/graph_lab.html")
    assert opened() == ["another-function"]
    page.evaluate("document.dispatchEvent(new CustomEvent('fx-solved', {detail: 'another-function'}))")
    assert opened() == ["return-both"]
    page.goto(f"{address}chapters/reference/graph_lab.html#four-opcodes")
    assert opened() == ["four-opcodes"]


def test_without_storage_the_page_offers_no_progress(context: BrowserContext, page: Page, address: str) -> None:
    context.add_init_script(
        f"""const set = Storage.prototype.setItem;
        Storage.prototype.setItem = function (key, value) {{
          if (key.startsWith("{KEY}")) throw new DOMException("no", "QuotaExceededError");
          set.call(this, key, value);
        }};"""
    )
    page.goto(f"{address}{EXERCISES}.html")
    assert page.locator(".fx-tick").count() == 0 and not page.locator("#fx-memory").is_visible()
