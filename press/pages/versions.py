"""The page *What changed between versions*: printed from the facts, their places and what was recorded of them."""

from __future__ import annotations

import collections
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from press.book import Book
from press.manuscript.reading import Manuscript
from press.versions import record
from press.versions.facts import Told
from press.versions.notes import Place, places
from press.versions.record import BEHAVIOUR, KINDS, minor

_PAGE = """\
# What changed between versions

The book is proven with torch {pinned}; `torch.__version__` says which one you have. This page tells what other
versions do otherwise. For each fact below a program was run on torch {oldest} to {newest}. Every cell of the book was
run on these:

| torch | cells | the same | other words | a warning more | behave otherwise | need an earlier cell |
|---|---|---|---|---|---|---|
{versions}

*Other words*: an error message is spelled otherwise. *A warning more*: torch warns, and does the same. The cells that
*behave otherwise* are told below{more}. *Need an earlier cell*: one that differs.

{facts}
"""


def page_text(book: Book) -> str:
    """The text of ``chapters/reference/versions.md``."""
    kept = record.read(book.root)
    found: dict[str, list[tuple[str, Place]]] = collections.defaultdict(list)
    for path, page in pages(book).items():
        for place in places(page):
            found[place.fact].append((path, place))
    # Of some versions no more than some notebooks or the facts were asked.
    ordered = record.in_order(version for version, counts in kept.versions.items() if "cells" in counts)
    counted = [_row(version, kept.versions[version]) for version in ordered]
    # What changed last comes first: a reader's torch is more often new than old.
    latest = sorted(book.changes.values(), key=_when, reverse=True)
    groups: dict[str, list[Told]] = {}
    for one in latest:
        groups.setdefault(one.later or one.since, []).append(one)
    parts = [
        f"## Torch {version}\n\n" + "\n\n".join(_fact(one, found[one.fact.id]) for one in facts)
        for version, facts in groups.items()
    ]
    unplaced = sum(entry.kind == BEHAVIOUR and bool(entry.because) for entry in kept.entries)
    asked = record.in_order({version for lines in kept.facts.values() for version in lines})
    return _PAGE.format(
        pinned=book.pins["torch"],
        oldest=minor(asked[0]),
        newest=minor(asked[-1]),
        versions="\n".join(counted),
        more=f", but for {unplaced} whose difference is no matter of torch.fx" if unplaced else "",
        facts="\n\n".join(parts),
    )


def pages(book: Book) -> dict[str, Manuscript]:
    """The pages that may have notes, by their path as seen from ``chapters/reference/``."""
    sources = [source for source in book.sources if source not in book.sheet_folders]
    beside = book.root / "chapters" / "reference"
    return {Path(os.path.relpath(book.targets(source)[0], beside)).as_posix(): book.page(source) for source in sources}


def _when(one: Told) -> tuple[int, ...]:
    return tuple(map(int, (one.later or one.since).split(".")))


def _row(version: str, counts: Mapping[str, int]) -> str:
    same = counts["cells"] - sum(counts[kind] for kind in KINDS)
    numbers = [counts["cells"], same, *(counts[kind] for kind in KINDS)]
    return f"| {version} | {' | '.join(f'{number:,}' for number in numbers)} |"


def _fact(one: Told, where: Iterable[tuple[str, Place]]) -> str:
    links = ", ".join(f"[{place.heading}]({path}#{place.anchor})" for path, place in where)
    told = f"Told in {links}." if links else one.fact.nowhere
    return "\n\n".join(filter(None, [f"### {one.fact.title}", one.text, one.table, told]))
