"""Read a manuscript (a MyST Markdown notebook) into cells that know their line; reject what a notebook cannot show."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

from jupytext.myst import MystMetadataParsingError, myst_to_notebook

from press.manuscript.problems import PressError, Problem

HEADER = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---
"""
# All legal tags, with their meaning. A cell's tags are checked, because every tool silently ignores a misspelt one.
TAGS = {
    "hide-input": "the page folds the code",
    "hide-output": "the page folds the output until the reader has guessed it",
    "remove-input": "the page leaves the code out",
    "nbval-ignore-output": "the output cannot be stable (a timing); the cell asserts the relation that it shows",
}
_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})(?P<info>.*)$")
_FENCED_DIRECTIVE = re.compile(r"^\s*(?:`{3,}|~{3,})\{(?P<what>[\w:-]+)\}")
_RAW_IN_NOTEBOOKS = (
    (re.compile(r"^\s*(?P<what>:{3,}.*)$"), "directive"),
    (re.compile(r"\{(?P<what>[\w:+-]+)\}`[^`]+`"), "role"),
    (re.compile(r"^\((?P<what>[\w-]+)\)=\s*$"), "label"),
    (re.compile(r"^%\s(?P<what>.*)$"), "comment"),
)
_CODE_SPAN = re.compile(r"(?<![`}])(`+)(?!`).+?(?<!`)\1(?!`)")


@dataclasses.dataclass(frozen=True)
class Cell:
    """A cell of a manuscript: ``kind`` is ``"markdown"`` or ``"code"``, ``line`` is its first line, from 1.

    ``path`` is its file, if it differs from the page's; ``id`` is its id in the notebook, or ``""`` to derive that from
    the text.
    """

    kind: str
    source: str
    line: int
    tags: tuple[str, ...] = ()
    path: Path | None = None
    id: str = ""


@dataclasses.dataclass(frozen=True)
class Manuscript:
    path: Path
    cells: tuple[Cell, ...]

    def problem(self, line: int, message: str) -> Problem:
        return Problem(self.path, line, message)


def is_manuscript(text: str) -> bool:
    """Whether notebooks are generated from a Markdown file; other pages are rendered as they are."""
    return text.startswith("---\njupytext:") or "```{code-cell}" in text


def read(path: Path, *, headed: bool = True) -> Manuscript:
    """Read a manuscript; ``headed`` says whether it begins with jupytext's header, unlike parts of a sheet.

    Raises PressError with all faults if it is not valid MyST, or contains what a notebook cannot show.
    """
    return parse(path, path.read_text(encoding="utf-8"), headed=headed)


def parse(path: Path, text: str, *, headed: bool = True) -> Manuscript:
    """Read a manuscript from the text of its file; otherwise like :func:`read`."""
    problems = [Problem(path, line, message) for line, message in _faults_of_text(text, headed)]
    if problems:
        raise PressError(*problems)
    try:
        notebook = myst_to_notebook(text, add_source_map=True)
    except (MystMetadataParsingError, ValueError) as error:
        line = re.search(r"at line (\d+)", str(error))
        raise PressError(Problem(path, int(line[1]) if line else 1, f"is not valid MyST: {error}")) from error
    lines = text.splitlines()
    cells = []
    for cell, start in zip(notebook.cells, notebook.metadata["source_map"], strict=True):
        line = _first_line(lines, start, cell.source)
        unknown = set(cell.metadata) - {"tags"}
        tags = cell.metadata.get("tags", [])
        if unknown:
            message = f"unknown cell option {sorted(unknown)[0]!r}: the only one is `:tags:`"
            problems.append(Problem(path, line, message))
        problems += [
            Problem(path, line, f"unknown cell tag {tag!r}: the tags are {', '.join(sorted(TAGS))}")
            for tag in tags
            if tag not in TAGS
        ]
        if cell.cell_type == "code" and not cell.source.strip():
            problems.append(Problem(path, line, "an empty code cell: fill it or remove it"))
        cells.append(Cell(cell.cell_type, cell.source, line, tuple(tags), path))
    manuscript = Manuscript(path, tuple(cells))
    problems += [Problem(path, line, message) for cell in cells for line, message in raw_in_notebooks(cell)]
    if problems:
        raise PressError(*problems)
    return manuscript


def headings(manuscript: Manuscript) -> dict[str, str]:
    """The headings of a manuscript, from anchor to text, with the anchors that MyST and GitHub use.

    A heading may also have former anchors: lines ``<a id="…"></a>`` directly above it.
    """
    found: dict[str, str] = {}
    for cell in manuscript.cells:
        former: list[str] = []
        for _, line in prose_lines(cell):
            if match := re.match(r"#{1,6} +(.+?) *#*$", line):
                found |= dict.fromkeys([anchor(match[1]), *former], match[1])
            marked = re.match(r'<a id="([^"]+)"></a>$', line)
            former = [*former, marked[1]] if marked else former if not line.strip() else []
    return found


def anchor(heading: str) -> str:
    """The anchor of a heading: in lower case, without punctuation, and with hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def prose_lines(cell: Cell) -> Iterator[tuple[int, str]]:
    """The lines of a markdown cell that are not inside a fence, with their line numbers."""
    if cell.kind == "markdown":
        yield from _outside_fences(cell.source, cell.line)[0]


def _outside_fences(text: str, first: int) -> tuple[list[tuple[int, str]], int]:
    """The lines outside fences with their numbers; and the line number of a fence that is never closed, or 0."""
    outside: list[tuple[int, str]] = []
    fence, opened = "", 0
    for number, line in enumerate(text.splitlines(), start=first):
        match = _FENCE.match(line)
        if fence:
            if match and match["mark"].startswith(fence) and not match["info"].strip():
                fence, opened = "", 0
        elif match:
            fence, opened = match["mark"], number
        else:
            outside.append((number, line))
    return outside, opened


def _faults_of_text(text: str, headed: bool) -> Iterator[tuple[int, str]]:
    lines = text.splitlines()
    if headed and not text.startswith(HEADER):
        wanted = HEADER.splitlines()
        line = next((i for i, want in enumerate(wanted) if i >= len(lines) or lines[i] != want), len(wanted))
        yield line + 1, f"is not valid MyST: the header must be\n{HEADER.rstrip()}"
    if opened := _outside_fences(text, 1)[1]:
        fence = _FENCE.match(lines[opened - 1])
        yield opened, f"is not valid MyST: the fence {fence and fence['mark']} opened here is never closed"


def raw_in_notebooks(cell: Cell) -> Iterator[tuple[int, str]]:
    """Syntax in a markdown cell that only MyST understands and a notebook would show raw: line and message."""
    if cell.kind != "markdown":
        return
    for number, line in enumerate(cell.source.splitlines(), start=cell.line):
        if match := _FENCED_DIRECTIVE.match(line):
            what = match["what"]
            if what == "code-cell":
                yield number, "a code cell must be at the left margin, outside lists, quotes and comments"
            else:
                yield number, _raw("directive", what)
    for number, line in prose_lines(cell):
        visible = _CODE_SPAN.sub("", line)
        for pattern, name in _RAW_IN_NOTEBOOKS:
            if match := pattern.search(visible):
                yield number, _raw(name, match["what"])
                break


def _raw(name: str, what: str) -> str:
    return (
        f"the MyST {name} {what!r} would show as raw text in a notebook: "
        'write plain Markdown, <details> for a fold, <div class="fx-note"> for a note'
    )


def _first_line(lines: list[str], start: int, source: str) -> int:
    """The line, from 1, at which the cell's source begins; ``start`` is jupytext's guess."""
    first = source.split("\n", 1)[0]
    for index in range(max(start - 1, 0), len(lines)):
        if lines[index] == first and (first or index >= start):
            return index + 1
    return start + 1
