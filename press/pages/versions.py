"""The page *What changed between versions*, generated from the facts, their places and their record."""

from __future__ import annotations

import collections
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from packaging.version import Version

from press.book import Book
from press.manuscript.reading import Manuscript, anchor
from press.versions import record
from press.versions.facts import RecordedFact
from press.versions.messages import form, searched
from press.versions.notes import Place, places
from press.versions.record import KINDS, minor

# As much of a message as fits on a line.
_WORDS = re.compile(r"(?!AssertionError)\w+: .{3,90}?(?=[.;] | from |$)")
_MOST_MESSAGES = 2

_PAGE = """\
# What changed between versions

The book is tested with torch {pinned}; `torch.__version__` says which one you have. This page says what other
versions do differently. Each heading says what torch {pinned} does, and each section is named after the version that
changed it: on torch 2.9 read the sections 2.10 to 2.13, on 2.15 those of 2.14 and 2.15. For each heading a program
was run on torch {oldest} to {newest}.

The book has {cells_now:,} cells of code, and `make test` runs all of them on torch {pinned}. On each of the other
versions, the book was last run as a whole when it had the number of cells in the second column. Cells that were written
since then are missing there, but the program of each fact below was run on all versions.

| torch | cells | the same | other words | one more warning | behave differently | need an earlier cell |
|---|---|---|---|---|---|---|
{versions}

*Other words*: an error message is worded differently. *One more warning*: torch warns, but does the same. Cells that
*behave differently* are described below and on their page. *Need an earlier cell*: they fail because an earlier cell
failed or behaved differently. Many raise a `NameError` for a name that the earlier cell did not set. On 2.7, others run
after a failed export, which leaves torch in a different state. Nothing is known about these cells themselves. Cells
that depend on a fact on this page but do not differ were written to show the same everywhere.

{solutions}
{facts}

## Individual cells

{cells}
"""


def page_text(book: Book) -> str:
    kept = book.record
    found: dict[str, list[tuple[str, Place]]] = collections.defaultdict(list)
    for path, page in pages(book).items():
        for place in places(page):
            found[place.fact].append((path, place))
    # Without the versions on which only some notebooks or only the facts were run.
    ordered = record.in_order(version for version, counts in kept.versions.items() if "cells" in counts)
    cells_now = sum(cell.cell_type == "code" for notebook in book.proven() for cell in notebook.cells)
    # On the pinned version, the tests prove that every cell is the same.
    now = {book.pins["torch"]: {"cells": cells_now, **dict.fromkeys(KINDS, 0)}}
    counted = [_row(version, now.get(version, kept.versions[version])) for version in ordered]
    seen: dict[str, list[str]] = collections.defaultdict(list)
    for message in kept.messages:
        if message.fact and (words := _WORDS.match(searched(message.text))):
            seen[message.fact].append(words[0])
    # The latest changes come first, since readers more often have a new torch than an old one.
    changed = {version for one in book.changes.values() for version in one.changed}
    parts = []
    for version in sorted(changed, key=Version, reverse=True):
        here = [one for one in book.changes.values() if one.changed[0] == version]
        texts = [_fact(one, seen[one.fact.id], found[one.fact.id]) for one in here]
        texts += [_see_above(one) for one in book.changes.values() if version in one.changed[1:]]
        parts.append("\n\n".join([f"## Torch {version}", *texts]))
    recorded = record.in_order({version for lines in kept.facts.values() for version in lines})
    return _PAGE.format(
        pinned=book.pins["torch"],
        oldest=minor(recorded[0]),
        newest=minor(recorded[-1]),
        cells_now=cells_now,
        versions="\n".join(counted),
        solutions=_of_solutions(book),
        facts="\n\n".join(parts),
        cells="\n".join(_of_cells(book)),
    )


def pages(book: Book) -> dict[str, Manuscript]:
    """The pages that may have notes, by their path from ``chapters/reference/``."""
    sources = [source for source in book.sources if source not in book.sheet_folders]
    here = book.root / "chapters" / "reference"
    return {Path(os.path.relpath(book.targets(source)[0], here)).as_posix(): book.page(source) for source in sources}


def _of_solutions(book: Book) -> str:
    needs = [f"`{exercise}` needs torch {version}" for exercise, version in book.solutions_need.items()]
    return f"On older versions, {len(needs)} solutions are rejected: {', '.join(needs)}.\n" if needs else ""


def _of_cells(book: Book) -> Iterator[str]:
    for path, page in pages(book).items():
        notebook = (Path("chapters/reference") / path).as_posix()
        for name in book.record.pages.get(os.path.normpath(notebook), []):
            if name in book.remarks:
                yield f"- [{_title(page)}]({path}): {book.remarks[name].says}"


def _title(page: Manuscript) -> str:
    return page.cells[0].source.split("\n", 1)[0].removeprefix("# ")


def _row(version: str, counts: Mapping[str, int]) -> str:
    same = counts["cells"] - sum(counts[kind] for kind in KINDS)
    numbers = [counts["cells"], same, *(counts[kind] for kind in KINDS)]
    return f"| {version} | {' | '.join(f'{number:,}' for number in numbers)} |"


def _fact(one: RecordedFact, messages: Iterable[str], where: Iterable[tuple[str, Place]]) -> str:
    links = ", ".join(f"[{place.heading}]({path}#{place.anchor})" for path, place in where)
    place = f"Explained in {links}." if links else one.fact.nowhere[:1].upper() + one.fact.nowhere[1:]
    shown = ", ".join(f"``{message}``" for message in _worth_showing(messages, one.text))
    you_see = f"*You see*: {shown}" if shown else ""
    return "\n\n".join(filter(None, [f"### {one.fact.title}", one.text, you_see, one.table, place]))


def _see_above(one: RecordedFact) -> str:
    """A reference to a fact that changed again with a later version."""
    link = f"[{one.fact.title}](#{anchor(one.fact.title)})"
    return f"This version also changed something that is listed under torch {one.later}: {link}."


def _worth_showing(messages: Iterable[str], text: str) -> list[str]:
    """The most common messages that the text does not contain; among those that differ only in numbers, the first."""
    by_form: dict[str, str] = {}
    for message in messages:
        if form(message).partition(": ")[2] not in form(text):
            by_form.setdefault(form(message), message)
    return list(by_form.values())[:_MOST_MESSAGES]
