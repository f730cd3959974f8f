"""The notes on changes between versions of torch: ``<!-- versions: recompile-children -->`` becomes a fold.

The marker is on its own line, at the end of the section about the fact. One marker may name several facts, separated by
commas; they share a fold. Facts from other pages that also make a cell on this page differ are linked at the end of the
page.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence

from press.book import Book
from press.manuscript.claims import claims
from press.manuscript.problems import PressError
from press.manuscript.reading import Cell, Manuscript, anchor, prose_lines
from press.versions.facts import RecordedFact

_MARKER = re.compile(r"<!-- versions: ([\w\-, ]+) -->")
_OPENS = '<details class="fx-versions">'
# The page with all notes.
PAGE = "reference/versions"


@dataclasses.dataclass(frozen=True)
class Place:
    fact: str
    anchor: str
    heading: str


def with_notes(page: Manuscript, book: Book) -> Manuscript:
    """The page with each marker replaced by its note.

    Raises:
        PressError: a marker names an unknown fact, or the record of a fact is unusable.
    """
    cells = []
    for cell in page.cells:
        source = cell.source
        for number, line in prose_lines(cell):
            if match := _MARKER.fullmatch(line.strip()):
                known = book.changes
                named = _named(match[1])
                if unknown := [name for name in named if name not in known]:
                    message = f"{unknown[0]!r} is not a fact in book/reference/version_facts: {', '.join(known)}"
                    raise PressError(page.problem(number, message))
                source = source.replace(line, note([known[name] for name in named]))
        cells.append(dataclasses.replace(cell, source=source))
    return dataclasses.replace(page, cells=tuple(cells))


def note(facts: Iterable[RecordedFact]) -> str:
    """The fold: the versions on which torch differs from the page, and how, for each fact."""
    facts = list(facts)
    whens = list(dict.fromkeys(fact.when for fact in facts))
    when = whens[0] if len(whens) == 1 else "On other versions of torch"
    parts = [f"**{fact.fact.title}.** {fact.text}\n\n{fact.table}" for fact in facts]
    summary = f"<summary>{when}, this is different</summary>"
    return "\n".join([_OPENS, summary, "", "\n\n".join(parts), "", "</details>"])


def with_others(cells: Sequence[Cell], others: Sequence[str]) -> list[Cell]:
    """The cells of a page, with a fold at the end for differences that no note explains.

    ``others`` are sentences or links.
    """
    if not others:
        return list(cells)
    lines = [f"- {other}" for other in others]
    fold = [_OPENS, "<summary>On other torch versions, some cells differ</summary>", "", *lines, "", "</details>"]
    last = cells[-1]
    if last.kind == "code":
        return [*cells, Cell("markdown", "\n".join(fold), last.line, path=last.path)]
    return [*cells[:-1], dataclasses.replace(last, source="\n".join([last.source.rstrip(), "", *fold]))]


def places(page: Manuscript) -> Iterator[Place]:
    """The notes of a page, in order; the heading of a claim has its verdict."""
    shown = {claim.text: claim.heading for claim in claims(page)}
    heading = ""
    for cell in page.cells:
        for _, line in prose_lines(cell):
            if match := re.match(r"#{1,6} +(.+?) *#*$", line):
                heading = shown.get(match[1], match[1])
            elif match := _MARKER.fullmatch(line.strip()):
                yield from (Place(name, anchor(heading), heading) for name in _named(match[1]))


def _named(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
