"""Long lists can be filtered: all exercises and the symptom index; the record of solved exercises can be saved."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from fxbook.catalogue import catalogue
from tests.browsing import needs_chromium

pytestmark = [needs_chromium, pytest.mark.room(name="site")]

REFERENCE = "chapters/reference"
KEY = "torch-fx-node-by-node"
FIRST, SECOND, THIRD = list(catalogue())[:3]
# An older format, in which a page or an exercise has no day.
OLD = {"read": {"chapters/00_first_graph": True}, "seen": {}, "solved": {FIRST: True, SECOND: "2026-11-21"}}


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a browser that has stored progress."""
    page = browser.new_page(viewport={"width": 1400, "height": 900}, accept_downloads=True)
    # Stored by the page that reads it: what another page has stored can arrive after this one has looked.
    page.add_init_script(f"localStorage.setItem({json.dumps(KEY)}, {json.dumps(json.dumps(OLD))})")
    yield page
    page.close()


def rows(page: Page) -> int:
    return page.locator("tbody tr:visible").count()


def test_exercises_are_filtered_by_words_chapter_difficulty_and_unsolved(page: Page, built_book: Path) -> None:
    page.goto((built_book / f"{REFERENCE}/exercises.html").as_uri())
    every = list(catalogue().values())
    assert rows(page) == len(every)
    assert "2026-11-21" in page.locator("tr", has_text=SECOND).inner_text()
    page.get_by_label("Unsolved only").check()
    assert rows(page) == len(every) - 2
    page.get_by_label("Chapter").select_option("00")
    page.get_by_label("Difficulty").select_option("2")
    left = [one for one in every if one.id[:2] == "00" and one.difficulty == 2 and one.id not in OLD["solved"]]
    assert rows(page) == len(left)
    page.get_by_label("Filter").fill(left[0].title.lower())
    assert rows(page) == 1 and page.locator("output").inner_text() == f"1 of {len(every)} exercises"


def test_the_record_is_shown_saved_and_loaded(page: Page, built_book: Path, tmp_path: Path) -> None:
    page.goto((built_book / f"{REFERENCE}/solved.html").as_uri())
    assert rows(page) == 3, "the chapter that was read, and two of its exercises"
    assert "solved 2 of" in page.locator(".fx-sum").inner_text()
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save to a file").click()
    saved = tmp_path / saving.value.suggested_filename
    saving.value.save_as(saved)
    assert json.loads(saved.read_text()) == {"read": OLD["read"], "solved": OLD["solved"]}
    # Progress of `make watch`, with one exercise that the browser does not have.
    watched = tmp_path / ".fxbook-progress.json"
    watched.write_text(json.dumps({"solved": {SECOND: "2026-11-20T09:00:00", THIRD: "2026-11-22T09:00:00"}}))
    page.locator("input[type=file]").set_input_files(watched)
    page.locator("tr", has_text=THIRD).get_by_text("2026-11-22").wait_for()
    assert "2026-11-20" in page.locator("tr", has_text=SECOND).inner_text()
    assert rows(page) == 4
    (tmp_path / "other.json").write_text("[]")
    page.locator("input[type=file]").set_input_files(tmp_path / "other.json")
    page.get_by_text("other.json is not a record of this book").wait_for()
    page.emulate_media(media="print")
    assert not page.get_by_role("button", name="Save to a file").is_visible() and rows(page) == 4


def test_messages_are_filtered_and_their_classes_open(page: Page, built_book: Path) -> None:
    address = (built_book / f"{REFERENCE}/symptom_index.html").as_uri()
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollHeight") < 8 * 900
    folds = page.locator("details.fx-symptoms")
    items = folds.locator("li")
    assert items.locator("visible=true").count() == 0
    page.get_by_label("Filter").fill("erase node users")
    assert 0 < items.locator("visible=true").count() < 20
    page.get_by_label("Filter").fill("zebra crossing")
    assert (
        page.get_by_role("link", name="search for it").get_attribute("href").endswith("search.html?q=zebra%20crossing")
    )
    page.get_by_label("Filter").fill("")
    assert items.locator("visible=true").count() == 0
    page.goto(f"{address}#typeerror")
    assert page.locator("#typeerror details li").first.is_visible()


@pytest.mark.parametrize("name", ["exercises", "solved", "symptom_index"])
def test_without_javascript_the_lists_are_complete(browser: Browser, built_book: Path, name: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((built_book / f"{REFERENCE}/{name}.html").as_uri())
    if name == "symptom_index":
        page.locator("details.fx-symptoms summary").nth(1).click()
        assert page.locator("details.fx-symptoms li").locator("visible=true").count() > 10
    else:
        assert rows(page) >= len(catalogue())
    context.close()
