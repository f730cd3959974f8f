"""The search finds the sections for a word or a message, and loads little."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import pytest
import yaml
from playwright.sync_api import Browser
from sphinx.errors import ExtensionError

from press.book import the_book
from press.pages.symptoms import of_every_chapter
from tests.browsing import needs_chromium
from tests.loading import load
from tests.site.pages import CHAPTERS, PAGES
from tests.site.test_in_browser import AXE, violations

pytestmark = [needs_chromium, pytest.mark.room(name="site")]

SECTIONS = 3
# In bytes as they are sent: the index, and everything that a search loads.
LARGEST_INDEX, MOST_FETCHED = 150_000, 200_000
Search = Callable[[str], list[tuple[str, str, str]]]
ASK = "query => fxFind(query)"
QUERIES = yaml.safe_load((Path(__file__).parent / "queries.yml").read_text("utf-8"))
ENTRIES = [
    (message, entry)
    for entries, _ in of_every_chapter(the_book())
    for entry in entries
    if not entry.silent
    for message in entry.searched
]


@pytest.fixture(scope="module")
def search(browser: Browser, built_book: Path) -> Iterator[Search]:
    """A function that searches; results, best first, are a page, ``"Page > heading"`` or its title, and the anchor."""
    page = browser.new_page()
    page.goto((built_book / "search.html").as_uri())
    yield lambda query: [tuple(found) for found in page.evaluate(ASK, query)]
    page.close()


def middle(message: str) -> str:
    """Up to ten words from the middle of a message, or all of a short message."""
    words = message.partition(": ")[2].split()
    return " ".join(words[1:11]) if len(words) > 3 else message


def test_every_message_leads_to_the_section_that_explains_it(search: Search) -> None:
    """The query is the middle of a message; some messages have a section for each of more than three causes."""
    found = []
    for message, entry in ENTRIES:
        page, title = f"chapters/{entry.chapter}", re.sub(r"\\(?=[^\w\s]|_)", "", entry.heading)
        hits = search(middle(message))[:SECTIONS]
        found.append(any(place == page and label.endswith(f"> {title}") for place, label, _ in hits))
    assert len(found) > 150
    assert sum(found) > 0.93 * len(found)


@pytest.mark.parametrize(("kind", "most_missed"), [("words", 2), ("messages", 1), ("first", 0)])
def test_common_queries_find_their_section_first(search: Search, kind: str, most_missed: int) -> None:
    wanted = QUERIES[kind]
    missed = []
    for query, places in wanted.items():
        hits = search(query)[: 1 if kind == "first" else SECTIONS]
        if not any(fits(hit, place) for hit in hits for place in places):
            missed.append((query, hits))
    assert len(missed) <= most_missed, missed


def fits(hit: tuple[str, str, str], place: str) -> bool:
    """Whether a result is at a place of queries.yml: `03 Heading`, `03! Heading` (companion) or `folder/ Heading`."""
    where, _, heading = place.partition(" ")
    page = hit[0].removeprefix("chapters/").removeprefix("book/")
    if chapter := re.match(r"(when_it_breaks/)?([0-9P]\d)_", page):
        page = chapter[2] + ("!" if chapter[1] else "")
    same = place == page if page == "not here" else page.startswith(where) if where.endswith("/") else page == where
    return same and (page == "not here" or heading.lower() in hit[1].rpartition(" > ")[2].lower())


def test_topics_listed_as_missing_are_on_no_page(built_book: Path) -> None:
    absent = yaml.safe_load(load("book/_ext/search_index.py").ABSENT.read_text("utf-8"))
    pages = "\n".join(path.read_text("utf-8") for path in (built_book / "_static/search/pages").glob("*.js"))
    words = [word for one in absent for word in one["words"]]
    assert len(absent) >= 10
    assert [word for word in words if re.search(rf"(?<!\w){re.escape(word)}s?(?!\w)", pages, re.IGNORECASE)] == []


@pytest.mark.parametrize(
    ("pasted", "heading"),
    [
        (
            "RuntimeError: Argument 'logits_3' of Node 'scale' was used before it has been defined!",
            "used before it has",
        ),
        ("Tried to erase Node attention_mask but it still had 17 users in the graph: {a: None}!", "Tried to erase"),
        ("Node dropout_7 referenced nonexistent value residual! Run Graph.lint() to diagnose", "nonexistent value"),
        ("'immutable_dict' object does not support mutation. If you are attempting to modify", "not support mutation"),
        ("torch.fx.proxy.TraceError: symbolically traced variables cannot be used as inputs to", "inputs to control"),
    ],
)
def test_a_message_with_other_names_is_found_first(search: Search, pasted: str, heading: str) -> None:
    assert heading in search(pasted)[0][1]


def numbered(page: str) -> str:
    """The number of a chapter, ``"when_it_breaks/00"`` for its companion, and any other page unchanged."""
    return re.sub(r"^chapters/(when_it_breaks/)?(\d\d)_\w+$", r"\1\2", page)


def test_words_find_the_section_that_teaches_them(search: Search) -> None:
    wanted = yaml.safe_load((Path(__file__).parent / "sought.yml").read_text("utf-8"))
    assert len(wanted) == 87
    missed = []
    for words, places in wanted.items():
        page, _, anchor = (search(words) or [("", "", "")])[0]
        if f"{numbered(page)}#{anchor}" not in places:
            missed.append((words, page, anchor))
    assert len(missed) <= 3, missed


def test_a_search_fetches_little(browser: Browser, built_book: Path) -> None:
    page = browser.new_page()
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(urlsplit(request.url).path))
    page.goto(f"{(built_book / 'search.html').as_uri()}?q={quote('tried to erase node')}")
    page.locator("#search-results .fx-found-text:not(:empty)").first.wait_for()
    page.wait_for_load_state("networkidle")
    of_the_search = [path for path in fetched if "/_static/search/" in path]
    assert of_the_search
    sizes = {Path(path).name: len(gzip.compress(Path(unquote(path)).read_bytes(), 6)) for path in of_the_search}
    assert sizes["index.js"] < LARGEST_INDEX and sum(sizes.values()) < MOST_FETCHED
    page.close()


def test_a_page_loads_nothing_of_the_search(built_book: Path) -> None:
    for chapter in CHAPTERS:
        assert "_static/search/" not in (built_book / f"{chapter}.html").read_text("utf-8")


def test_without_javascript_the_page_says_where_to_look(browser: Browser, built_book: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((built_book / "search.html").as_uri())
    assert page.locator("article noscript p").is_visible()
    page.get_by_role("link", name="symptom index").first.click()
    assert page.locator("article h1").inner_text().startswith("Symptom index")
    context.close()


def test_a_result_opens_its_section_from_a_folder(browser: Browser, built_book: Path) -> None:
    page = browser.new_page()
    page.goto((built_book / f"{CHAPTERS[0]}.html").as_uri())
    page.locator(".search-button__button:visible").first.click()
    page.locator("#pst-search-dialog input").fill("dead code")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=dead+code")
    first = page.locator("#search-results li").first
    assert first.locator("a").inner_text() == "Dead code: what eliminate_dead_code deletes"
    assert first.locator(".fx-found-place").inner_text().startswith("03 · ")
    first.locator("mark").first.wait_for()
    first.locator("a").click()
    page.wait_for_url("**/03_replacement.html#dead-code-what-eliminate-dead-code-deletes")
    page.close()


def test_results_appear_while_typing_and_keys_move_between_them(browser: Browser, built_book: Path) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto((built_book / f"{CHAPTERS[0]}.html").as_uri())
    page.keyboard.press("Control+k")
    results = page.locator("#pst-search-dialog .fx-results")
    results.locator(".fx-example").first.wait_for()
    page.keyboard.type("de")
    page.keyboard.type("ad code")
    results.get_by_role("link", name="Dead code: what eliminate_dead_code deletes").wait_for()
    box = page.locator("#pst-search-dialog .fx-found").bounding_box()
    results.locator(".fx-found-text:not(:empty)").first.wait_for()
    assert page.locator("#pst-search-dialog .fx-found").bounding_box() == box, "nothing moves when the texts are loaded"
    assert page.locator("#pst-search-dialog [role=status]").inner_text().startswith("The best 12 of ")
    assert violations(page, AXE) == []
    page.locator(".fx-more").first.click()
    assert results.locator("li").count() == 24
    page.keyboard.press("Control+Home")
    page.locator("#pst-search-dialog input").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    page.wait_for_url("**/03_replacement.html#dead-code-what-eliminate-dead-code-deletes")
    page.close()


def test_an_empty_search_has_examples_that_find_something(browser: Browser, built_book: Path) -> None:
    page = browser.new_page()
    for at in range(5):
        page.goto((built_book / "search.html").as_uri())
        page.locator(".fx-example button").nth(at).click()
        page.locator("#search-results a").first.wait_for()
    page.locator("#search-page-form input, .bd-search-container input").first.fill("onnx")
    link = page.get_by_role("link", name="the official page on ONNX")
    assert link.get_attribute("href") == "https://docs.pytorch.org/docs/stable/onnx.html"
    assert violations(page, AXE) == []
    page.close()


def test_search_words_for_a_missing_section_are_rejected() -> None:
    find = load("book/_ext/search_index.py")
    pages = {"chapters/here": ("Here", [find.Section("there-is-one", "There is one", "A text.")])}
    find.index(pages, {"chapters/here#there-is-one": "word", "chapters/left-out#any": "word"})
    with pytest.raises(ExtensionError, match="chapters/here#there-is-none"):
        find.index(pages, {"chapters/here#there-is-none": "word"})
    words = yaml.safe_load(find.SYNONYMS.read_text("utf-8"))
    assert {place.partition("#")[0] for place in words} <= set(PAGES)
