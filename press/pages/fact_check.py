"""The overview of the fact check: every claim of every page with its verdict, collected from the manuscripts."""

from __future__ import annotations

import collections
import html

from press.book import Book
from press.manuscript.claims import VERDICTS
from press.manuscript.reading import Manuscript

_INTRODUCTION = """\
# Fact check

What articles, guides and docstrings say of `torch.fx`, claim by claim, in our words and in the order of their source. A
verdict rests on a cell that runs, here or in a chapter. {count} claims, {counts}.

| verdict | means |
|---|---|
| true | as it is said |
| incomplete | true, with a condition or an exception that is not said and matters |
| misleading | each word may pass, the picture that it leaves does not |
| outdated | was true of an older version |
| false | torch {torch} does something else |

The pages, each in the order of its source: {pages}.

"""
# Works without a script as a plain list; the script of the book adds the choice of chapter and verdict.
_ROW = '<li class="fx-claim" data-verdict="{verdict}" data-chapters="{chapters}">'


def page_text(book: Book) -> str:
    """The text of ``chapters/reference/fact_check.md``."""
    pages = list(book.claimed())
    every = [claim for _, claims in pages for claim in claims]
    counted = collections.Counter(claim.verdict for claim in every)
    parts = [
        _INTRODUCTION.format(
            count=len(every),
            counts=", ".join(f"{counted[verdict]} {verdict}" for verdict in VERDICTS),
            torch=book.pins.get("torch", ""),
            pages=", ".join(f"[{_title(page)}]({page.path.stem}.ipynb)" for page, _ in pages),
        )
    ]
    for page, claims in pages:
        parts.append(f"## {_title(page)}\n")
        parts.append('<ul class="fx-claims">')
        for claim in claims:
            chapters = " ".join(claim.chapters)
            link = f"[{claim.text}]({page.path.stem}.ipynb#{claim.anchor})"
            where = ", ".join(claim.chapters)
            row = _ROW.format(verdict=html.escape(claim.verdict), chapters=html.escape(chapters))
            parts.append(f"{row}\n\n{link} · **{claim.verdict}** · {where}\n\n</li>")
        parts.append("</ul>\n")
    return "\n".join(parts)


def _title(page: Manuscript) -> str:
    heading = next(line for cell in page.cells for line in cell.source.splitlines() if line.startswith("# "))
    title = heading.removeprefix("# Fact check: ").strip()
    return title[:1].upper() + title[1:]
