"""In Chromium, light and dark, wide and narrow, a page has no error, no request to another host, no axe violation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browsing import needs_chromium
from tests.site.pages import CHAPTERS, PAGES
from tests.site.serving import served

pytestmark = needs_chromium

MOST_ELEMENTS = 7_000
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
# With preload, axe would fetch style sheets again, and imported ones from a wrong address.
AXE = {"resultTypes": ["violations"], "preload": False, "rules": {"label-content-name-mismatch": {"enabled": True}}}
AXE_ON_A_PHONE = {"resultTypes": ["violations"], "preload": False} | {
    "runOnly": ["color-contrast", "scrollable-region-focusable", "target-size"]
}
THEMES = ("light", "dark")
Look = tuple[str, dict[str, int], dict]
# A wide light page is tested with all rules, a dark page on a phone only for colours and width.
LOOKS: tuple[Look, ...] = (("light", WIDE, AXE), ("dark", PHONE, AXE_ON_A_PHONE))
# `make test` tests a page of each kind; the room *site* tests these in two more looks, and all pages.
MORE_LOOKS: tuple[Look, ...] = (("dark", WIDE, AXE_ON_A_PHONE), ("light", PHONE, AXE))
# Pages of solutions are built like chapters.
_FIRST_OF_FOLDER = {page.rpartition("/")[0]: page for page in reversed(PAGES) if not page.startswith("solutions/")}
KINDS = (*_FIRST_OF_FOLDER.values(), CHAPTERS[0], "chapters/reference/symptom_index")
in_site_room = pytest.mark.room(name="site")
# axe spends most of its time on contrast.
ONLY_WHAT_IS_MARKED = "axe.configure({rules: [{id: 'color-contrast', selector: '[data-colours]'}]})"
# Mark and return the texts whose combination of colour, background and size is new. In a drawing, the background is a
# shape, which gets its colour from its class.
MARK_NEW_COLOURS = """known => {
  const fresh = new Set(), grounds = new Map([[null, ""]]);
  const ground = element => {
    if (!grounds.has(element)) {
      const style = getComputedStyle(element), bare = style.backgroundColor === "rgba(0, 0, 0, 0)";
      const own = bare && style.backgroundImage === "none" && style.opacity === "1"
        ? "" : `;${style.backgroundColor} ${style.backgroundImage} ${style.opacity}`;
      const drawn = element.closest("svg") ? `;${element.getAttribute("class")}` : "";
      grounds.set(element, ground(element.parentElement) + own + drawn);
    }
    return grounds.get(element);
  };
  for (const element of document.querySelectorAll("body *")) {
    delete element.dataset.colours;
    if (![...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim())) continue;
    if (!element.checkVisibility({visibilityProperty: true})) continue;
    const style = getComputedStyle(element);
    const colours = `${style.color} ${style.fill} ${style.fontSize} ${style.fontWeight}${ground(element)}`;
    if (known.includes(colours) || fresh.has(colours)) continue;
    fresh.add(colours);
    element.dataset.colours = "";
  }
  return [...fresh];
}"""
# Soon after the page gets its width, the theme makes elements that scroll reachable by keyboard.
SCROLLERS_REACHED = """() => [...document.querySelectorAll("article pre, .cell_output > .output, \
.pst-scrollable-table-container")].every(box => box.tabIndex === 0 || box.scrollWidth <= box.clientWidth)"""


@pytest.fixture(scope="module")
def address(built_book: Path) -> Iterator[str]:
    with served(built_book) as found:
        yield found.removesuffix("/")


def context_for(browser: Browser, theme: str) -> BrowserContext:
    """A reader who has chosen a theme, as the site's script stores the choice."""
    context = browser.new_context(viewport=WIDE, color_scheme=theme, reduced_motion="reduce")
    context.add_init_script(f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')")
    return context


@pytest.fixture(scope="module")
def readers(browser: Browser) -> Iterator[dict[str, BrowserContext]]:
    """A reader for each theme; each keeps its cache for all pages."""
    contexts = {theme: context_for(browser, theme) for theme in THEMES}
    yield contexts
    for context in contexts.values():
        context.close()


def troubles_of(page: Page, host: str) -> list[str]:
    """A list that collects problems while `page` lives; `host` is the only allowed host."""
    troubles: list[str] = []
    page.on(
        "console", lambda message: message.type in ("error", "warning") and troubles.append(f"console: {message.text}")
    )
    page.on("pageerror", lambda error: troubles.append(f"script: {error}"))
    page.on("requestfailed", lambda request: troubles.append(f"failed: {request.url}"))
    page.on("response", lambda answer: answer.status >= 400 and troubles.append(f"{answer.status}: {answer.url}"))

    def watch(url: str) -> None:
        there = urlsplit(url)
        if there.scheme not in ("data", "blob") and there.netloc != host:
            troubles.append(f"another host: {url}")

    page.on("request", lambda request: watch(request.url))
    return troubles


def violations(page: Page, options: dict, script: str = "") -> list[str]:
    """The axe violations, each with rule, element and reason; ``script`` runs before axe."""
    axe = Axe()
    axe.axe_script += f"\n{script}"
    violations = axe.run(page, options=options).response["violations"]
    return [
        f"{rule['id']}: {' '.join(map(str, node['target']))}: {node['failureSummary']}"
        for rule in violations
        for node in rule["nodes"]
    ]


def faults_of(page: Page, address: str, name: str, looks: Sequence[Look], known: dict[str, set[str]]) -> Iterator[str]:
    """Visit a page in all looks. A look without options skips axe; ``known`` are the colours tested, by theme."""
    troubles = troubles_of(page, urlsplit(address).netloc)
    page.set_viewport_size(looks[0][1])
    page.goto(f"{address}/{name}.html")
    elements = page.evaluate("document.querySelectorAll('*').length")
    if elements > MOST_ELEMENTS:
        yield f"{name}: it has {elements} elements"
    page.evaluate("document.querySelectorAll('article details').forEach(fold => { fold.open = true })")
    for theme, size, options in looks:
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        page.set_viewport_size(size)
        page.wait_for_function(SCROLLERS_REACHED)
        look = f"{name}, {theme}, {size['width']} px wide"
        if options:
            known[theme].update(page.evaluate(MARK_NEW_COLOURS, [*known[theme]]))
            yield from (f"{look}: {fault}" for fault in violations(page, options, ONLY_WHAT_IS_MARKED))
        needed = page.evaluate("document.documentElement.scrollWidth")
        if needed > size["width"]:
            yield f"{look}: it scrolls sideways, since it is {needed} px wide"
    yield from (f"{name}: {trouble}" for trouble in troubles)


@pytest.mark.parametrize(
    ("name", "looks"),
    [pytest.param(name, LOOKS, id=name) for name in KINDS]
    + [pytest.param(name, MORE_LOOKS, id=f"{name}, more looks", marks=in_site_room) for name in KINDS]
    + [pytest.param(name, LOOKS, id=name, marks=in_site_room) for name in PAGES if name not in KINDS],
)
def test_page_passes(readers: dict[str, BrowserContext], address: str, name: str, looks: Sequence[Look]) -> None:
    page, known = readers["light"].new_page(), {theme: set() for theme in THEMES}
    assert list(faults_of(page, address, name, looks, known)) == []
    assert all(known.values())
    page.close()


@in_site_room
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_page_works_without_javascript(browser: Browser, address: str, size: dict[str, int]) -> None:
    context = browser.new_context(viewport=size, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/{CHAPTERS[0]}.html")
    assert page.locator("article h1").is_visible()
    fold = page.locator("article section > details:not([class])").first
    answer = fold.locator(":scope > :not(summary)").first
    assert not answer.is_visible()
    fold.locator("summary").click()
    assert answer.is_visible()
    page.locator("nav.bd-links a", has_text="Exercises").first.click()
    page.wait_for_url(f"**/exercises/{CHAPTERS[0].partition('/')[2]}.html")
    context.close()


# Chromium's behaviour if a reader has blocked storage.
STORAGE_BLOCKED = """for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, {
  configurable: true, get() { throw new DOMException(`Access to ${name} is denied`, "SecurityError"); } })"""


@in_site_room
def test_a_page_works_if_storage_is_blocked(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=WIDE, color_scheme="dark")
    context.add_init_script(STORAGE_BLOCKED)
    page = context.new_page()
    troubles = troubles_of(page, urlsplit(address).netloc)
    page.goto(f"{address}/{CHAPTERS[0]}.html")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    themes = set()
    for _ in range(3):
        page.locator(".theme-switch-button:visible").click()
        themes.add(page.locator("html").get_attribute("data-theme"))
    assert themes == {"light", "dark"}
    assert not page.locator("#fx-memory").is_visible() and page.locator(".fx-read-box").count() == 0
    assert troubles == []
    context.close()


@in_site_room
@pytest.mark.parametrize("name", ["chapters/intro", CHAPTERS[-1]])
def test_a_page_works_from_a_folder(browser: Browser, built_book: Path, name: str) -> None:
    context = context_for(browser, "light")
    page = context.new_page()
    troubles = troubles_of(page, "")
    page.goto((built_book / f"{name}.html").as_uri())
    assert page.locator("article h1").is_visible()
    assert troubles == []
    context.close()


@in_site_room
def test_on_paper_folds_are_open_and_sidebars_gone(browser: Browser, address: str) -> None:
    context = context_for(browser, "light")
    page = context.new_page()
    page.goto(f"{address}/{CHAPTERS[0]}.html")
    page.emulate_media(media="print")
    assert page.locator("article h1").is_visible()
    assert page.locator("article section > details:not([class]) > p").first.is_visible()
    assert not page.locator(".bd-sidebar-primary").is_visible()
    assert not page.locator(".bd-sidebar-secondary").is_visible()
    context.close()
