"""The page that tells what random graphs found in the passes of the book and of torch: printed from a record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from press.book import Book

# Written by `python -m tests.passes.tried`, compared by `make prove ROOM=passes`.
RECORD = Path("book/reference/random_graphs.yml")
_PAGE = """\
# Passes on random graphs

The finished passes of the chapters, each on {graphs} [random graphs](tools.ipynb#random-graphs), with
[all that a pass must keep](tools.ipynb#what-a-pass-must-keep). Where a pass changes numbers on purpose, its result was
compared with a run of the old graph in which the nodes are computed as the pass should have changed them. No pass
breaks what was asked. *Applied* counts the graphs that the pass has changed; it left all others alone.
`make prove ROOM=passes` runs all of this.

| pass | applied | not asked | found by random graphs |
|---|---|---|---|
{passes}

Not asked is what the pass does not promise. Values and gradients are not asked where numbers change on purpose.

## What random graphs find in passes of torch

Each program is the body of a function of `x` and `y`. The next columns are its result as it is, and after the pass.
*Broken* counts the random graphs, of {graphs_for_torch}, whose numbers or whose order the pass breaks. Where the field
is empty, the fault was found by hand.

| pass | what is wrong | program | before | after | broken | known as |
|---|---|---|---|---|---|---|
{torch}
"""


def page_text(book: Book) -> str:
    """The text of ``chapters/reference/random_graphs.md``."""
    record = yaml.safe_load((book.root / RECORD).read_text(encoding="utf-8"))
    return _PAGE.format(
        graphs=record["graphs"],
        graphs_for_torch=record["graphs_for_torch"],
        passes="\n".join(map(_pass, record["passes"])),
        torch="\n".join(map(_fault, record["torch"])),
    )


def _pass(told: dict[str, Any]) -> str:
    where = f"[chapter {told['chapter'][:2]}](../{told['chapter']}.ipynb)"
    left_out = ", ".join(f"`{name}`" for name in told.get("without", ()))
    return f"| `{told['name']}` {told['does']}, {where} | {told['applied']} | {left_out} | {told.get('found', '')} |"


def _fault(told: dict[str, Any]) -> str:
    number = told.get("known")
    known = f"[#{number}](https://github.com/pytorch/pytorch/issues/{number})" if number else ""
    cells = (
        f"`{told['name']}`",
        told["wrong"],
        f"`{told['program']}`",
        told["before"],
        told["after"],
        str(told.get("broken", "")),
        known,
    )
    return f"| {' | '.join(cells)} |"
