"""The page on what random graphs found in passes from the book and from torch, generated from a record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from press.book import Book

# Written by `python -m tests.passes.tried`, compared by `make prove ROOM=passes`.
RECORD = Path("book/reference/random_graphs.yml")
_PAGE = """\
# Passes on random graphs

The finished passes of the chapters were run on {graphs} [random graphs](tools.ipynb#random-graphs) each, and checked
for [everything a pass must keep](tools.ipynb#what-a-pass-must-keep). Where a pass changes numbers on purpose, its
result was compared with a run of the old graph in which the nodes are computed as the pass should have changed them. No
pass breaks what was checked. *Changed* counts the graphs that the pass has changed; it left all others alone. *Not
checked* is what the pass does not promise. *Found* is a mistake of an earlier version. `make prove ROOM=passes` runs
all this.

{passes}

Values and gradients are not compared where numbers change on purpose.

## What random graphs find in passes of torch

Each program is the body of a function of `x` and `y`, and each entry gives its result without and with the pass. Of
{graphs_for_torch} random graphs, *breaks* counts those whose numbers or order the pass breaks. An entry without
it was found by hand.

{torch}
"""


def page_text(book: Book) -> str:
    record = yaml.safe_load((book.root / RECORD).read_text(encoding="utf-8"))
    return _PAGE.format(
        graphs=record["graphs"],
        graphs_for_torch=record["graphs_for_torch"],
        passes="\n".join(map(_pass, record["passes"])),
        torch="\n".join(map(_fault, record["torch"])),
    )


def _pass(entry: dict[str, Any]) -> str:
    where = f"[chapter {entry['chapter'][:2]}](../{entry['chapter']}.ipynb)"
    left_out = ", ".join(f"`{name}`" for name in entry.get("without", ()))
    parts = (
        f"`{entry['name']}` {entry['does']}, {where}. *Changed*: {entry['applied']}.",
        f"*Not checked*: {left_out}." if left_out else "",
        f"*Found*: {entry['found']}." if entry.get("found") else "",
    )
    return f"- {' '.join(filter(None, parts))}"


def _fault(entry: dict[str, Any]) -> str:
    number = entry.get("known")
    results = f"gives {entry['before']} without it, {entry['after']} with it"
    parts = (
        f"`{entry['name']}` {entry['wrong']}: `{entry['program']}` {results}.",
        f"*Breaks*: {entry['broken']}." if "broken" in entry else "",
        f"*Known as*: [#{number}](https://github.com/pytorch/pytorch/issues/{number})." if number else "",
    )
    return f"- {' '.join(filter(None, parts))}"
