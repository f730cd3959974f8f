"""The overview of the fact check: every claim of every page with its verdict, collected from the manuscripts."""

from __future__ import annotations

import collections
import html
import re
from pathlib import Path

from press import ROOT
from press.manuscript.claims import VERDICTS, Claim, claims
from press.manuscript.reading import Manuscript, read
from press.printing.derive import manuscripts

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


def all_claims(root: Path = ROOT) -> list[tuple[Manuscript, list[Claim]]]:
    """The pages of the fact check with their claims, in the order of their files."""
    pages = [read(path) for path in manuscripts(root) if path.name.startswith("fact_check_")]
    return [(page, claims(page)) for page in pages]


def page_text(root: Path = ROOT) -> str:
    """The text of ``chapters/reference/fact_check.md``."""
    pages = all_claims(root)
    every = [claim for _, found in pages for claim in found]
    counted = collections.Counter(claim.verdict for claim in every)
    pinned = re.search(r"^torch==(\S+)", (root / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    parts = [
        _INTRODUCTION.format(
            count=len(every),
            counts=", ".join(f"{counted[verdict]} {verdict}" for verdict in VERDICTS),
            torch=pinned[1] if pinned else "",
            pages=", ".join(f"[{_title(page)}]({page.path.stem}.ipynb)" for page, _ in pages),
        )
    ]
    for page, found in pages:
        parts.append(f"## {_title(page)}\n")
        parts.append('<ul class="fx-claims">')
        for claim in found:
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
