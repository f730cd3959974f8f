"""The generated pages of the reference agree with the chapters, claims and exercises, and link to them."""

from __future__ import annotations

import re

import pytest

from fxbook.catalogue import catalogue
from press.book import the_book
from press.manuscript.claims import claims
from press.manuscript.problems import PressError
from press.manuscript.reading import HEADER, read
from press.pages.exercises import all_exercises, solved
from press.pages.symptoms import of_every_chapter
from press.pages.symptoms import page_text as symptom_text

LEAST_SYMPTOMS = 70
# Headings also appear alone, in contents and links, so none may depend on another.
DEPENDS_ON_ANOTHER = re.compile(r"(It|So|Or|And|Both|With them|That|This|Such|They|These|Its|Their|There)\b")
BAD_CLAIMS = {
    "no verdict": ("### It is so\n\n<!-- claim: perhaps; chapters: 01 -->", "a verdict is true, false"),
    "no chapter": ("### It is so\n\n<!-- claim: true -->", "write <!-- claim: VERDICT; chapters: 03, 07 -->"),
    "no heading": ("# T\n\nText.\n\n<!-- claim: true; chapters: 01 -->", "directly under its own ### heading"),
    "twice": (
        "### It is so\n\n<!-- claim: true; chapters: 01 -->\n\n### It is so\n\n<!-- claim: true; chapters: 01 -->",
        "occurs twice",
    ),
}


def test_symptom_index_has_messages_and_silent_faults() -> None:
    text = symptom_text(the_book())
    assert int(re.search(r"(\d+) entries", text)[1]) >= LEAST_SYMPTOMS
    pages = {**the_book().chapters, **the_book().companions}
    for page, (entries, _) in zip(pages, of_every_chapter(the_book()), strict=True):
        assert entries, page
        for entry in entries:
            assert entry.cause, f"{page}: {entry.heading} has no cause"
            assert f"](../{entry.place})" in text
    assert "`RuntimeError: Tried to erase Node relu but it still had 1 users in the graph" in text
    assert "**Later steps rely on the in-place write that was replaced.**" in text
    links = re.findall(r"(?:Fix:|Shown in) \[(.+?)\]\(\.\./(?:when_it_breaks/)?(\d\d)", text)
    assert text.count("](../") > LEAST_SYMPTOMS
    assert links and [link for link in links if not link[0].startswith(f"{link[1]} · ")] == []


def test_exercises_are_listed_with_their_skill() -> None:
    book = the_book()
    index, record = all_exercises(book), solved(book)
    for one in catalogue().values():
        row = next(line for line in index.splitlines() if f"`{one.id}`" in line)
        page, _, section = one.read.partition("#")
        assert f"[{one.title}](" in row and f"[{book.headings(page)[section]}](../{page}.ipynb#{section})" in row
        assert f"| {one.difficulty} | {one.minutes} | [{one.chapter[:2]}](" in row
        assert f"`{one.id}` | {one.minutes} |" in record
    assert index.count("\n| [") == len(catalogue())


@pytest.mark.parametrize("name", BAD_CLAIMS)
def test_malformed_claim_is_rejected(name: str, tmp_path) -> None:
    body, message = BAD_CLAIMS[name]
    path = tmp_path / "fact_check_x.md"
    path.write_text(f"{HEADER}\n{body}\n", encoding="utf-8")
    with pytest.raises(PressError, match=re.escape(message)):
        claims(read(path))


def test_claim_headings_stand_alone() -> None:
    for page, claims_of_page in the_book().claimed():
        for claim in claims_of_page:
            assert not DEPENDS_ON_ANOTHER.match(claim.text), f"{page.path.name}:{claim.line}: {claim.text}"
            assert claim.reason, f"{page.path.name}:{claim.line}: no sentence explains {claim.text}"
