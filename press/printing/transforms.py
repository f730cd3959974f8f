"""The steps from a page of the manuscript to the page of the notebook: functions of the page and the book."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator

from press.book import COMPANIONS, Book
from press.imprint import BYLINE
from press.manuscript.claims import Claim
from press.manuscript.problems import PressError
from press.manuscript.reading import Cell, Manuscript, anchor, headings, prose_lines

Transform = Callable[[Manuscript, Book], Manuscript]
FAULTS = "<!-- all faults -->"
# The sections in a companion whose entries are faults; its other sections continue the chapter.
GROUPS = ("With a message", "Silent")
HIDES_UNTIL_GUESSED = "hide-output"
ANSWER = '<details class="fx-answer">\n<summary>Show the answer</summary>'
_BETWEEN_SENTENCES = re.compile(r"(?<=[.?!])[)*`]*\s+")


def with_verdicts(page: Manuscript, book: Book) -> Manuscript:
    """Add the verdict to the heading of each claim, and links to its chapters under it.

    The heading also keeps its old anchor, without the verdict; links within the page go to the anchor with it.

    Raises:
        PressError: a chapter does not exist.
    """
    at = {claim.line: claim for claim in book.claims(page.path)}
    files = {name[:2]: name for name in book.chapters}
    if problems := [
        page.problem(claim.line, f"there is no chapter {number}")
        for claim in at.values()
        for number in claim.chapters
        if number not in files
    ]:
        raise PressError(*problems)
    by_name = {claim.name: claim for claim in at.values()}

    def shown(line: int, text: str) -> str:
        if text.startswith("### ") and (claim := by_name.get(anchor(text.removeprefix("### ")))):
            return f'<a id="{claim.name}"></a>\n\n### {claim.heading}'
        claim = at.get(line)
        if claim is None:
            return re.sub(r"\]\(#([\w-]+)\)", lambda link: _redirected(link, by_name), text)
        links = ", ".join(f"[{number}](../{files[number]}.ipynb)" for number in claim.chapters)
        word = "Chapter" if len(claim.chapters) == 1 else "Chapters"
        return f'<div class="fx-verdict fx-verdict-{claim.verdict}">\n\n{word} {links}\n\n</div>'

    return _of_prose(
        page, lambda cell: "\n".join(shown(n, text) for n, text in enumerate(cell.source.splitlines(), start=cell.line))
    )


def _redirected(link: re.Match[str], by_name: dict[str, Claim]) -> str:
    """A link within the page; one to a claim leads to the heading with the verdict."""
    claim = by_name.get(link[1])
    return f"](#{claim.anchor})" if claim else link[0]


def with_faults(page: Manuscript, book: Book) -> Manuscript:
    """Replace the marker of a chapter with a fold that links to each entry of its companion.

    Each line has the current and former anchors of its entry, so that old links to entries that used to be in the
    chapter still work, even without JavaScript.

    Raises:
        PressError: the marker is missing or occurs twice, or there is no companion.
    """
    if page.path not in book.chapters.values():
        return page
    path = book.companions.get(f"{COMPANIONS}/{page.path.stem}")
    places = [number for cell in page.cells for number, line in prose_lines(cell) if line == FAULTS]
    if len(places) != (path is not None):
        message = f"a chapter with a page in when_it_breaks/ must have {FAULTS} once, and no other page may have it"
        raise PressError(page.problem(places[0] if places else 1, message))
    if path is None:
        return page
    entries = list(_entries(book.page(path)))
    known, there = set(headings(page)), headings(book.page(path))
    lines = []
    for _, heading in entries:
        names = [name for name, text in there.items() if text == heading and name not in known]
        marked = "".join(f'<a id="{name}"></a>' for name in names)
        lines.append(f"- {marked}[{heading}]({COMPANIONS}/{path.stem}.ipynb#{anchor(heading)})")
    faults = sum(group in GROUPS for group, _ in entries)
    topics = len(lines) - faults
    more = f" · {topics} other topic{'s' * (topics > 1)}" if topics else ""
    summary = f"<summary>{faults} more mistakes, each with its cause and fix{more}</summary>"
    fold = "\n".join(["<details>", summary, "", *lines, "", "</details>"])
    return _of_prose(page, lambda cell: cell.source.replace(FAULTS, fold))


def _entries(companion: Manuscript) -> Iterator[tuple[str, str]]:
    group = ""
    for cell in companion.cells:
        for _, line in prose_lines(cell):
            if match := re.match(r"(##|###) +(.+?) *$", line):
                if match[1] == "###":
                    yield group, match[2]
                else:
                    group = match[2]


def with_byline(page: Manuscript, book: Book) -> Manuscript:
    return _of_prose(page, lambda cell: cell.source.replace(BYLINE, book.imprint.byline))


def _of_prose(page: Manuscript, text: Callable[[Cell], str]) -> Manuscript:
    cells = [dataclasses.replace(cell, source=text(cell)) if cell.kind == "markdown" else cell for cell in page.cells]
    return dataclasses.replace(page, cells=tuple(cells))


def with_answers(page: Manuscript, book: Book) -> Manuscript:
    """Fold the answer to a prediction: the paragraph after a cell whose output the reader is to guess.

    On the page, ``book/_ext/outputs.py`` moves this fold into the output's; a notebook shows it below the output.
    A sentence that ends with a colon introduces what follows, and stays visible.

    Raises:
        PressError: the answer and such an introduction are in the same paragraph.
    """
    cells = list(page.cells)
    for number, cell in enumerate(cells[1:], start=1):
        if cell.kind != "markdown" or HIDES_UNTIL_GUESSED not in cells[number - 1].tags:
            continue
        answer, _, rest = cell.source.lstrip("\n").partition("\n\n")
        *sentences, last = _BETWEEN_SENTENCES.split(answer.rstrip())
        if answer.startswith(("#", "<")) or (last.endswith(":") and not sentences):
            continue
        if last.endswith(":"):
            message = (
                "this paragraph is folded with the output above it: put the lead-in to the next cell in a new paragraph"
            )
            raise PressError(page.problem(cell.line, message))
        fold = f"{ANSWER}\n\n{answer.rstrip()}\n\n</details>"
        cells[number] = dataclasses.replace(cell, source="\n\n".join([fold, rest]).rstrip("\n"))
    return dataclasses.replace(page, cells=tuple(cells))
