"""Which pages the one-file editions hold, in which order: that of ``_toc.yml``, with the solutions last."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

SOLUTIONS = "solutions/"


@dataclasses.dataclass(frozen=True)
class Leaf:
    """A page of the book: its document as Sphinx names it, the part it stands in, and how deep it stands there."""

    name: str
    part: str
    depth: int


def leaves(toc: Path) -> list[Leaf]:
    """The pages in the order of reading; nobody meets a solution before the last exercise.

    Args:
        toc: the table of contents of the site, ``_toc.yml``.
    """
    told = yaml.safe_load(toc.read_text(encoding="utf-8"))
    found = [Leaf(told["root"], "", 0)]
    for part in told["parts"]:
        found += _within(part["chapters"], part.get("caption", ""), 0)
    return sorted(found, key=lambda leaf: leaf.name.startswith(SOLUTIONS))


def _within(entries: list[dict[str, Any]], part: str, depth: int) -> Iterator[Leaf]:
    for entry in entries:
        if "file" in entry:
            name = entry["file"]
            # A page of solutions may stand anywhere on the site; on paper these are a part of their own.
            yield Leaf(name, "Solutions", 0) if name.startswith(SOLUTIONS) else Leaf(name, part, depth)
        yield from _within(entry.get("sections", []), part, depth + 1)
