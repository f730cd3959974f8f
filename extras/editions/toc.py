"""The pages of an edition, in the order of ``_toc.yml`` but with the solutions last."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

SOLUTIONS = "solutions/"


class Entry(NamedTuple):
    """A page: its document in Sphinx, the part of the book, and its depth in that part."""

    name: str
    part: str
    depth: int


def entries(toc: Path) -> list[Entry]:
    """The pages in reading order, with all solutions at the end."""
    contents = yaml.safe_load(toc.read_text(encoding="utf-8"))
    found = [Entry(contents["root"], "", 0)]
    for part in contents["parts"]:
        found += _within(part["chapters"], part.get("caption", ""), 0)
    return sorted(found, key=lambda entry: entry.name.startswith(SOLUTIONS))


def _within(files: list[dict[str, Any]], part: str, depth: int) -> Iterator[Entry]:
    for file in files:
        name = file["file"]
        yield Entry(name, "Solutions", 0) if name.startswith(SOLUTIONS) else Entry(name, part, depth)
        yield from _within(file.get("sections", []), part, depth + 1)
