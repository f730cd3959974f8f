"""The derived pages of the reference say what the chapters, the claims and the answers say, and lead there."""

from __future__ import annotations

import re

import pytest

from fxbook.tasks import all_exercises
from fxbook.tasks.answering import answers_to
from press.book import the_book
from press.manuscript.claims import claims
from press.manuscript.problems import PressError
from press.manuscript.reading import HEADER, read
from press.pages.fact_check import page_text as fact_check_text
from press.pages.status import page_text as status_text
from press.pages.symptoms import of_every_chapter
from press.pages.symptoms import page_text as symptom_text
from tests.site.pages import PAGES

LEAST_SYMPTOMS, LEAST_CLAIMS = 70, 190
BAD_CLAIMS = {
    "no verdict": ("### It is so\n\n<!-- claim: perhaps; chapters: 01 -->", "a verdict is true, false"),
    "no chapter": ("### It is so\n\n<!-- claim: true -->", "write <!-- claim: VERDICT; chapters: 03, 07 -->"),
    "no heading": ("# T\n\nText.\n\n<!-- claim: true; chapters: 01 -->", "directly under a heading ### of its own"),
    "two under one": (
        "### It is so\n\n<!-- claim: true; chapters: 01 -->\n\n<!-- claim: true; chapters: 01 -->",
        "directly under a heading ### of its own",
    ),
    "twice": (
        "### It is so\n\n<!-- claim: true; chapters: 01 -->\n\n### It is so\n\n<!-- claim: true; chapters: 01 -->",
        "stands here twice",
    ),
}


def test_the_symptom_index_has_the_messages_of_the_chapters_and_their_silent_faults() -> None:
    text = symptom_text(the_book())
    assert int(re.search(r"(\d+) entries", text)[1]) >= LEAST_SYMPTOMS
    for chapter, (entries, _) in zip(the_book().chapters, of_every_chapter(the_book()), strict=True):
        assert entries, chapter
        for entry in entries:
            assert entry.cause, f"{chapter}: {entry.heading} has no cause"
            assert entry.link in text
    assert "`RuntimeError: Tried to erase Node act but it still had 2 users in the graph" in text
    assert "**What was written in place is read as it was.**" in text


@pytest.mark.parametrize("name", BAD_CLAIMS)
def test_a_claim_that_is_not_marked_as_one_is_refused(name: str, tmp_path) -> None:
    body, message = BAD_CLAIMS[name]
    path = tmp_path / "fact_check_x.md"
    path.write_text(f"{HEADER}\n{body}\n", encoding="utf-8")
    with pytest.raises(PressError, match=re.escape(message)):
        claims(read(path))


def test_every_claim_is_in_the_overview_with_its_verdict_and_chapters() -> None:
    text = fact_check_text(the_book())
    pages = list(the_book().claimed())
    assert sum(len(claims_of_page) for _, claims_of_page in pages) >= LEAST_CLAIMS
    for page, claims_of_page in pages:
        assert f"chapters/reference/{page.path.stem}" in PAGES
        for claim in claims_of_page:
            assert (
                f"({page.path.stem}.ipynb#{claim.anchor}) · **{claim.verdict}** · {', '.join(claim.chapters)}" in text
            )
            assert claim.chapters, claim.text


def test_the_status_page_counts_the_answers_that_are_tested() -> None:
    answers = [answer for exercise in all_exercises() for answer in answers_to(exercise.id)]
    text = status_text(the_book())
    assert f"that pass | {sum(not answer.violated for answer in answers)} |" in text
    assert f"told their mistake | {sum(bool(answer.violated) for answer in answers)} |" in text
    assert f"| exercises | {len(all_exercises())} |" in text
