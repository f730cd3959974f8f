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
    entries = [
        match[1]
        for cell in companion.cells
        for _, line in prose_lines(cell)
        if (match := re.match(r"### +(.+?) *$", line))
    ]
    page = f"{companion.path.parent.name}/{companion.path.stem}.ipynb"
    lines = [
        f"- {marked}[{heading}]({page}#{name})"
        for heading in entries
        for name in [anchor(heading)]
        for marked in ["" if name in known else f'<a id="{name}"></a>']
    ]
    summary = f"{len(entries)} more faults of this chapter, each with its cause and its cure"
    return "\n".join(["<details>", f"<summary>{summary}</summary>", "", *lines, "", "</details>"])
