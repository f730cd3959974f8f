"""Code on a page that does not scroll: a line longer than the page is wide goes on below, with a mark before it.

Of code that is read and not run, one blank line between definitions says as much as two.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from press.paper.markup import E, find

COLUMNS = 56
"""Characters that fit beside each other in the narrowest column of ``print.css`` and on the page of a reader."""

TOGETHER = 12
"""Lines of a block that is not divided between two pages, at most."""


def wrap_long_lines(tree: etree._Element) -> None:
    """Give each line of the blocks of code that have a long one an element of its own, which the style can mark."""
    for block in find(tree, ".//h:div[contains(@class, 'highlight')]/h:pre"):
        lines = every = list(_lines(block))
        if find(block, "./ancestor::h:div[contains(@class, 'cell_input')]"):
            lines = _without_second_blanks(every)
        if len(lines) <= TOGETHER:
            block.set("class", "fx-together")
        long = max((sum(len(part.xpath("string()")) for part in line) for line in lines), default=0) > COLUMNS
        if not long and len(lines) == len(every):
            continue
        block[:] = []
        block.text = None
        for line in lines:
            long = sum(len(part.xpath("string()")) for part in line) > COLUMNS
            # Its end stands inside of it: between two blocks it would be an empty line of its own.
            block.append(E.span({"class": "fx-line fx-long" if long else "fx-line"}, *line, "\n"))


def _without_second_blanks(lines: list[list[etree._Element]]) -> list[list[etree._Element]]:
    blank = [not "".join(part.xpath("string()") for part in line).strip() for line in lines]
    return [line for at, line in enumerate(lines) if not (at and blank[at] and blank[at - 1])]


def _lines(block: etree._Element) -> Iterator[list[etree._Element]]:
    """The lines of a block, each as a list of spans; Pygments puts spans beside each other, not into each other."""
    line: list[etree._Element] = []
    for name, words in _runs(block):
        first, *others = words.split("\n")
        line += _span(first, name)
        for other in others:
            yield line
            line = _span(other, name)
    if line:
        yield line


def _runs(block: etree._Element) -> Iterator[tuple[str, str]]:
    """The pieces of the text with the classes that colour them."""
    yield "", block.text or ""
    for part in block:
        yield part.get("class", ""), "".join(part.itertext())
        yield "", part.tail or ""


def _span(words: str, name: str) -> list[etree._Element]:
    if not words:
        return []
    return [E.span({"class": name}, words) if name else E.span(words)]
