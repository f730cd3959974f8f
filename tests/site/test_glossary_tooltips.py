"""Pointing at a glossary term shows its definition."""

from __future__ import annotations

from pathlib import Path

from tests.loading import load
from tests.site.pages import CHAPTERS, article, parsed

terms = load("book/_ext/glossary_tooltips.py")


def test_the_words_of_the_chapters_have_the_definitions_of_the_glossary(built_book: Path) -> None:
    glossary = parsed(built_book / f"{terms.GLOSSARY}.html")
    titles = {}
    for page in CHAPTERS:
        links = article(built_book, page).select("a[href*='glossary.html#']")
        titles |= {link["href"].partition("#")[2]: link.get("title", "") for link in links}
    assert len(titles) > 20
    for anchor, title in titles.items():
        words = " ".join(glossary.find(id=anchor).get_text().split())
        assert title and title in words, anchor
        assert "chapter 0" not in title and "Japanese" not in title, anchor


def test_words_of_other_languages_are_behind_a_switch(built_book: Path) -> None:
    glossary = article(built_book, terms.GLOSSARY)
    assert len(glossary.select("input#fx-languages:not([checked])")) == 1
    hidden = [entry.get_text() for entry in glossary.select("section .fx-languages")]
    assert len(hidden) == len(glossary.select("section h3"))
    assert all("Japanese" in words and "(chapter" not in words for words in hidden)
