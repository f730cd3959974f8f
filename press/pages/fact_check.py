"""The overview of the fact check: every claim on every page, with its verdict."""

from __future__ import annotations

import collections
import html
from collections.abc import Iterable

from press.book import Book
from press.manuscript.claims import VERDICTS, Claim
from press.manuscript.reading import Manuscript

_INTRODUCTION = """\
# Fact check

If you have read something about `torch.fx` and wonder whether it is true, look it up here. These pages check articles,
guides and docstrings claim by claim, in our words and in the order of each source. Each verdict rests on a cell that
runs, here or in a chapter. There are {count} claims: {counts}.

| verdict | means |
|---|---|
| true | as stated |
| incomplete | true, but an important condition or exception is missing |
| misleading | each word may be right, but the impression is wrong |
| outdated | was true of an older version |
| false | torch {torch} does something else |

If the source says *may*, so does the claim. It is true if such a case exists, for the reason that the source gives.

## The errors that matter most

Most harmful first: silently wrong numbers, then changes that do nothing, then broken graphs.

{worst}

## How many of each

{table}

## Every claim

"""
# A plain list without scripts; the book's script adds a choice of chapter and verdict.
_ROW = '<li class="fx-claim" data-verdict="{verdict}" data-chapters="{chapters}">'


def page_text(book: Book) -> str:
    pages = list(book.claimed())
    every = [claim for _, claims in pages for claim in claims]
    counted = collections.Counter(claim.verdict for claim in every)
    parts = [
        _INTRODUCTION.format(
            count=len(every),
            counts=", ".join(f"{counted[verdict]} {verdict}" for verdict in VERDICTS),
            torch=book.pins.get("torch", ""),
            worst=_worst(pages),
            table=_table(pages),
        )
    ]
    for page, claims in pages:
        parts.append(f"### {_title(page)}\n")
        parts.append('<ul class="fx-claims">')
        for claim in claims:
            chapters = " ".join(claim.chapters)
            where = ", ".join(claim.chapters)
            row = _ROW.format(verdict=html.escape(claim.verdict), chapters=html.escape(chapters))
            parts.append(f"{row}\n\n{_link(page, claim)} · **{claim.verdict}** · {where}\n\n</li>")
        parts.append("</ul>\n")
    return "\n".join(parts)


def _worst(pages: Iterable[tuple[Manuscript, list[Claim]]]) -> str:
    ranked = sorted(
        ((claim, page) for page, claims in pages for claim in claims if claim.harm), key=lambda found: found[0].harm
    )
    return "\n".join(
        f"{place}. {_link(page, claim)} · **{claim.verdict}**. {claim.reason}"
        for place, (claim, page) in enumerate(ranked, start=1)
    )


def _table(pages: Iterable[tuple[Manuscript, list[Claim]]]) -> str:
    lines = [f"| page | claims | {' | '.join(VERDICTS)} |", f"|---|{'---:|' * (len(VERDICTS) + 1)}"]
    for page, claims in pages:
        counted = collections.Counter(claim.verdict for claim in claims)
        numbers = [len(claims), *(counted[verdict] for verdict in VERDICTS)]
        lines.append(f"| [{_title(page)}]({page.path.stem}.ipynb) | {' | '.join(map(str, numbers))} |")
    return "\n".join(lines)


def _link(page: Manuscript, claim: Claim) -> str:
    return f"[{claim.text}]({page.path.stem}.ipynb#{claim.anchor})"


def _title(page: Manuscript) -> str:
    heading = next(line for cell in page.cells for line in cell.source.splitlines() if line.startswith("# "))
    title = heading.removeprefix("# Fact check: ").strip()
    return title[:1].upper() + title[1:]
