"""The search of the site: words lead to the section that teaches them, a message to its entry; little is fetched."""

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
from tests.site.pages import CHAPTERS, PAGES, ids_of

pytestmark = [needs_chromium, pytest.mark.room(name="site")]

INDEX = "chapters/reference/symptom_index"
SECTIONS = 3
# Bytes as they travel.
MOST_FETCHED = 300_000
Search = Callable[[str], list[tuple[str, str, str]]]
ASK = "query => fxFind(query)"
ENTRIES = [
    (message, entry)
    for entries, _ in of_every_chapter(the_book())
    for entry in entries
    if not entry.silent
    for message in entry.searched
]


@pytest.fixture(scope="module")
def search(browser: Browser, built_book: Path) -> Iterator[Search]:
    """What a query gives, the best first: a page, ``"Page > heading"`` or the title of the page, and the anchor."""
    page = browser.new_page()
    page.goto((built_book / "search.html").as_uri())
    yield lambda query: [tuple(found) for found in page.evaluate(ASK, query)]
    page.close()


def middle(message: str) -> str:
    """What stands behind the first word of a message, ten words of it; a short message whole, with its kind."""
    words = message.partition(": ")[2].split()
    return " ".join(words[1:11]) if len(words) > 3 else message


def test_every_message_is_found_by_its_middle(search: Search) -> None:
    missed, at_once = [], 0
    for message, entry in ENTRIES:
        hits = search(middle(message))
        page, title = f"chapters/{entry.chapter}", re.sub(r"\\(?=[^\w\s]|_)", "", entry.heading)
        is_first = any(place == page and label.endswith(f"> {title}") for place, label, _ in hits[:SECTIONS])
        at_once += is_first
        if not is_first and INDEX not in [place for place, *_ in hits[: SECTIONS + 1]]:
            missed.append(f"{message[:80]} ({entry.chapter}): {hits[: SECTIONS + 1]}")
    assert not missed, "\n".join(missed)
    assert len(ENTRIES) > 150
    assert at_once > 0.6 * len(ENTRIES), "of the rest the index tells the message and leads to its cure"


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
    """A chapter by its number, its companion as ``"when_it_breaks/00"``; any other page as it is."""
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


def test_every_wanted_section_is_there(built_book: Path) -> None:
    wanted = yaml.safe_load((Path(__file__).parent / "sought.yml").read_text("utf-8"))
    pages = [page for page in PAGES if numbered(page) != page]
    anchors = {numbered(page): ids_of(built_book / f"{page}.html") for page in pages}
    places = [place.split("#") for places in wanted.values() for place in places]
    assert [place for place in places if place[1] not in anchors[place[0]]] == []


def test_a_search_fetches_little(browser: Browser, built_book: Path) -> None:
    page = browser.new_page()
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(urlsplit(request.url).path))
    page.goto(f"{(built_book / 'search.html').as_uri()}?q={quote('tried to erase node')}")
    page.locator("#search-results .fx-found-text:not(:empty)").first.wait_for()
    page.wait_for_load_state("networkidle")
    of_the_search = [path for path in fetched if "/_static/search/" in path]
    assert of_the_search
    assert sum(len(gzip.compress(Path(unquote(path)).read_bytes(), 6)) for path in of_the_search) < MOST_FETCHED
    page.close()


def test_a_page_loads_nothing_of_the_search(built_book: Path) -> None:
    for chapter in CHAPTERS:
        assert "_static/search/" not in (built_book / f"{chapter}.html").read_text("utf-8")


def test_without_scripts_the_page_says_where_to_look(browser: Browser, built_book: Path) -> None:
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
    first = page.locator("#search-results li").first
    assert first.locator("a").inner_text() == "Dead code: what eliminate_dead_code deletes"
    assert first.locator(".fx-found-place").inner_text().startswith("03 · ")
    first.locator("mark").first.wait_for()
    first.locator("a").click()
    page.wait_for_url("**/03_replacement.html#dead-code-what-eliminate-dead-code-deletes")
    page.close()


def test_words_for_a_section_that_is_not_there_are_refused() -> None:
    find = load("book/_ext/search_index.py")
    pages = {"chapters/here": ("Here", [find.Section("there-is-one", "There is one", "A text.")])}
    find.index(pages, {"chapters/here#there-is-one": "word", "chapters/left-out#any": "word"})
    with pytest.raises(ExtensionError, match="chapters/here#there-is-none"):
        find.index(pages, {"chapters/here#there-is-none": "word"})
    words = yaml.safe_load(find.SYNONYMS.read_text("utf-8"))
    assert {place.partition("#")[0] for place in words} <= set(PAGES)
