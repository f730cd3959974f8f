"""The search of the built site leads a pasted message to its entry, by the middle of it and with the reader's names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from press.book import the_book
from press.pages.symptoms import of_every_chapter
from tests.browsing import needs_chromium

pytestmark = needs_chromium

INDEX = "chapters/reference/symptom_index"
SECTIONS = 3
ASK = """query => Search._performSearch(...Search._parseQuery(query)).reverse().map(found => [found[0], found[1]])"""
ENTRIES = [
    (message, entry)
    for entries, _ in of_every_chapter(the_book())
    for entry in entries
    if not entry.silent
    for message in entry.searched
]


@pytest.fixture(scope="module")
def search(browser: Browser, built_book: Path) -> Iterator[Callable[[str], list[list[str]]]]:
    """What a query gives, the best first: pages with their titles, and ``"Page > heading"`` for a section."""
    page = browser.new_page()
    page.goto((built_book / "search.html").as_uri())
    page.wait_for_function("typeof Search !== 'undefined' && Search.hasIndex()")
    yield lambda query: page.evaluate(ASK, query)
    page.close()


def middle(message: str) -> str:
    """What stands behind the first word of a message, ten words of it; a short message whole, with its kind."""
    words = message.partition(": ")[2].split()
    return " ".join(words[1:11]) if len(words) > 3 else message


def test_every_message_is_found_by_its_middle(search: Callable[[str], list[list[str]]]) -> None:
    missed, at_once = [], 0
    for message, entry in ENTRIES:
        hits = search(middle(message))
        page, title = f"chapters/{entry.chapter}", re.sub(r"\\(?=[^\w\s]|_)", "", entry.heading)
        is_first = any(place == page and label.endswith(f"> {title}") for place, label in hits[:SECTIONS])
        at_once += is_first
        if not is_first and INDEX not in [place for place, _ in hits[: SECTIONS + 1]]:
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
def test_a_message_with_other_names_is_found_first(
    search: Callable[[str], list[list[str]]], pasted: str, heading: str
) -> None:
    assert heading in search(pasted)[0][1]


@pytest.mark.parametrize(
    "words",
    [
        "inserting_after",
        "cycle",
        "hard-coded",
        "closure",
        "feature extractor",
        "not iterable",
        "compiled autograd",
        "topological order",
        "qualified name",
        "leaf module",
        "quantization",
    ],
)
def test_words_of_the_field_find_a_chapter(search: Callable[[str], list[list[str]]], words: str) -> None:
    assert any(re.match(r"chapters/(when_it_breaks/)?\d\d_", page) for page, _ in search(words))


def test_a_word_that_is_nowhere_finds_nothing(search: Callable[[str], list[list[str]]]) -> None:
    assert search("xylophone") == []
