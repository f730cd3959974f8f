"""The list of all faults in a chapter: ``<!-- all faults -->`` there becomes a fold that leads to each of them.

Each line of the list has the anchor that the entry has on the companion, so that a link to an entry that once stood in
the chapter leads to it, in any browser and without a script.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable

from press.manuscript.problems import PressError
from press.manuscript.reading import Cell, Manuscript, anchor, headings, prose_lines

MARKER = "<!-- all faults -->"
# The sections of a companion whose entries are faults; what else it has is more on the subject of the chapter.
GROUPS = ("With a message", "Silent")


def with_list(chapter: Manuscript, cells: Iterable[Cell], companion: Manuscript | None) -> list[Cell]:
    """The cells of a chapter, its marker replaced by the list of the entries of its companion.

    Args:
        chapter: the page.
        cells: its cells, as they are to be printed.
        companion: the page beside it that has its faults; ``None`` where there is none.

    Raises:
        PressError: the marker is missing, stands there twice, or there is no companion.
    """
    cells = list(cells)
    places = [number for cell in cells for number, line in prose_lines(cell) if line == MARKER]
    if len(places) != (companion is not None):
        message = f"a chapter with a page in when_it_breaks/ has {MARKER} once, another has none"
        raise PressError(chapter.problem(places[0] if places else 1, message))
    if companion is None:
        return cells
    listed = _list(companion, set(headings(chapter)))
    return [
        dataclasses.replace(cell, source=cell.source.replace(MARKER, listed)) if cell.kind == "markdown" else cell
        for cell in cells
    ]


def _list(companion: Manuscript, known: set[str]) -> str:
    """The fold; ``known`` are the anchors that the chapter has itself."""
    page = f"{companion.path.parent.name}/{companion.path.stem}.ipynb"
    lines, faults, group = [], 0, ""
    for cell in companion.cells:
        for _, line in prose_lines(cell):
            match = re.match(r"(##|###) +(.+?) *$", line)
            if not match:
                continue
            if match[1] == "##":
                group = match[2]
                continue
            name = anchor(match[2])
            marked = "" if name in known else f'<a id="{name}"></a>'
            lines.append(f"- {marked}[{match[2]}]({page}#{name})")
            faults += group in GROUPS
    more = len(lines) - faults
    summary = f"{faults} more faults, each with its cause and its cure" + (
        f" · {more} more on the subject" if more else ""
    )
    return "\n".join(["<details>", f"<summary>{summary}</summary>", "", *lines, "", "</details>"])
