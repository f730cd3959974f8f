"""Who points at a word of the glossary reads what it means."""

from __future__ import annotations

from pathlib import Path

from tests.loading import load
from tests.site.pages import CHAPTERS, article, parsed

terms = load("book/_ext/glossary_tooltips.py")


def test_a_link_to_a_word_has_its_definition_and_no_other_link_has_one() -> None:
    link = '<a class="reference internal" href="{}">x</a>'
    told = {"pass": 'A function that takes a "module".'}
    titled = terms.titled(link.format("../book/reference/glossary.html#pass"), "chapters/a", told)
    assert 'title="A function that takes a &quot;module&quot;."' in titled
    for other in ("../book/reference/glossary.html#else", "../book/reference/glossary.html", "glossary.html#pass"):
        assert terms.titled(link.format(other), "chapters/a", told) == link.format(other)


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
