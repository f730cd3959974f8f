"""The derived pages of the reference say what the chapters, the claims and the answers say, and lead there."""

from __future__ import annotations

import re
from types import SimpleNamespace

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
from press.printing.transforms import with_verdicts
from tests.site.pages import PAGES

LEAST_SYMPTOMS, LEAST_CLAIMS, WORST_CLAIMS = 70, 190, 10
# A heading is read alone, in a list of contents and behind a link: it names what it speaks of.
LEANS_ON_ANOTHER = re.compile(r"(It|So|Or|And|Both|With them|That|This|Such|They|These|Its|Their|There)\b")
BAD_CLAIMS = {
    "no verdict": ("### It is so\n\n<!-- claim: perhaps; chapters: 01 -->", "a verdict is true, false"),
    "no chapter": ("### It is so\n\n<!-- claim: true -->", "write <!-- claim: VERDICT; chapters: 03, 07 -->"),
    "no rank": ("### It is so\n\n<!-- claim: true; chapters: 01; harm: much -->", "write <!-- claim: VERDICT"),
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
    pages = {**the_book().chapters, **the_book().companions}
    for page, (entries, _) in zip(pages, of_every_chapter(the_book()), strict=True):
        assert entries, page
        for entry in entries:
            assert entry.cause, f"{page}: {entry.heading} has no cause"
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


def test_the_worst_claims_head_the_overview_in_their_order_with_a_sentence_each() -> None:
    text = fact_check_text(the_book())
    worst = [claim for _, claims_of_page in the_book().claimed() for claim in claims_of_page if claim.harm]
    assert sorted(claim.harm for claim in worst) == list(range(1, WORST_CLAIMS + 1))
    places = []
    for claim in sorted(worst, key=lambda claim: claim.harm):
        assert claim.verdict != "true", claim.text
        places.append(text.index(f"#{claim.anchor}) · **{claim.verdict}**. {claim.said}"))
    assert places == sorted(places)


def test_the_overview_counts_the_verdicts_of_each_page() -> None:
    rows = re.findall(r"^\| \[.+\]\((\w+)\.ipynb\) \|([ \d|]+)\|$", fact_check_text(the_book()), re.MULTILINE)
    counted = {page: [int(number) for number in numbers.split("|")] for page, numbers in rows}
    for page, claims_of_page in the_book().claimed():
        total, *by_verdict = counted[page.path.stem]
        assert total == sum(by_verdict) == len(claims_of_page)


def test_the_heading_of_a_claim_stands_alone() -> None:
    for page, claims_of_page in the_book().claimed():
        for claim in claims_of_page:
            assert not LEANS_ON_ANOTHER.match(claim.text), f"{page.path.name}:{claim.line}: {claim.text}"
            assert claim.said, f"{page.path.name}:{claim.line}: nothing is said of {claim.text}"


def test_a_claim_is_printed_with_its_verdict_in_the_heading_and_keeps_its_anchor(tmp_path) -> None:
    path = tmp_path / "fact_check_x.md"
    body = """# T

### It is so

<!-- claim: false; chapters: 01; harm: 3 -->

*Original*: "so"

It is not. See [below](#example-a-loop), and [the title](#t).

### Example: a loop

<!-- claim: true; chapters: 01, 02 -->

It runs:
"""
    path.write_text(f"{HEADER}\n{body}", encoding="utf-8")
    page = read(path)
    first, second = claims(page)
    assert (first.harm, first.said, first.name, first.anchor) == (3, "It is not.", "it-is-so", "false-it-is-so")
    assert (second.harm, second.said, second.anchor) == (0, "It runs.", "working-example-a-loop")
    book = SimpleNamespace(claims=lambda _: [first, second], chapters=["01_a", "02_b"])
    [cell] = with_verdicts(page, book).cells
    assert '<a id="it-is-so"></a>\n\n### False: It is so\n\n<div class="fx-verdict fx-verdict-false">' in cell.source
    assert '<a id="example-a-loop"></a>\n\n### Working example: a loop\n' in cell.source
    assert "[below](#working-example-a-loop), and [the title](#t)" in cell.source
    assert "Chapters [01](../01_a.ipynb), [02](../02_b.ipynb)" in cell.source and "<!--" not in cell.source


def test_the_status_page_counts_the_answers_that_are_tested() -> None:
    answers = [answer for exercise in all_exercises() for answer in answers_to(exercise.id)]
    text = status_text(the_book())
    assert f"that pass | {sum(not answer.violated for answer in answers)} |" in text
    assert f"told their mistake | {sum(bool(answer.violated) for answer in answers)} |" in text
    assert f"| exercises | {len(all_exercises())} |" in text
