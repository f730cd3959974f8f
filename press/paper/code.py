"""Code on a page that does not scroll: a line longer than the page is wide goes on below, with a mark before it.

A name in the column of a table goes on below at a joint of it. Of code that is read and not run, one blank line
between definitions says as much as two.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from lxml import etree

from press.paper.markup import E, classes, find

COLUMNS = 56
"""Characters that fit beside each other in the narrowest column of ``print.css`` and on the page of a reader."""

TOGETHER = 12
"""Lines of a block that is not divided between two pages, at most."""


PIECE = 20
"""Characters of a name in a table that stay together, if there is a better place to go on below."""
# In the middle of a name, where it may go on below: before a dot or behind what opens, joins or separates, as a slash.
_JOINT = re.compile(r"(?<=[\w)\]])(?=\.[a-zA-Z_])|(?<=[a-zA-Z0-9]_)(?=[a-zA-Z])|(?<=[(\[=,|/])(?=[^\s)\]])")

_Line = list[tuple[str, str]]
# What Pygments gives an element and Sphinx's style no colour: names, punctuation, blanks. A PDF describes each element
# of the document, and Chromium did not end when there were all of these besides the drawings.
_UNCOLOURED = {"n", "p", "w"}


def wrap_long_lines(tree: etree._Element) -> None:
    """Give each line of the blocks of code that have a long one an element of its own, which the style can mark.

    Elements that have no colour of their own go.
    """
    for block in find(tree, ".//h:div[contains(@class, 'highlight')]/h:pre"):
        lines = every = list(_lines(block))
        if find(block, "./ancestor::h:div[contains(@class, 'cell_input')]"):
            lines = _without_second_blanks(every)
        if len(lines) <= TOGETHER:
            block.set("class", "fx-together")
        ends = "\n" if "".join(block.itertext()).endswith("\n") else ""
        block[:], block.text = [], None
        if any(len(_text(line)) > COLUMNS for line in lines):
            for line in lines:
                long = len(_text(line)) > COLUMNS
                # Its end stands inside of it: between two blocks it would be an empty line of its own.
                block.append(E.span({"class": "fx-line fx-long" if long else "fx-line"}, *_parts([*line, ("", "\n")])))
            continue
        whole = [run for line in lines for run in [*line, ("", "\n")]]
        _fill(block, _parts(whole if ends else whole[:-1]))


def break_names(tree: etree._Element) -> None:
    """Say where code in a table may go on below, since its columns are otherwise as wide as the longest name.

    Code with a part that stays too long all the same breaks anywhere.
    """
    for code in find(tree, ".//h:table//h:code"):
        for element in [code, *find(code, ".//h:*")]:
            _break(element)
        pieces = re.split(r"[\s\0]", "\0".join(code.itertext()))
        if max(map(len, pieces)) > PIECE:
            code.set("class", " ".join([*classes(code), "fx-anywhere"]))


def _break(element: etree._Element) -> None:
    first, *others = _JOINT.split(element.text or "")
    element.text = first
    for at, other in enumerate(others):
        joint = E.wbr()
        joint.tail = other
        element.insert(at, joint)


def _without_second_blanks(lines: list[_Line]) -> list[_Line]:
    blank = [not _text(line).strip() for line in lines]
    return [line for at, line in enumerate(lines) if not (at and blank[at] and blank[at - 1])]


def _text(line: _Line) -> str:
    return "".join(words for _, words in line)


def _lines(block: etree._Element) -> Iterator[_Line]:
    """The lines of a block, each as its runs; Pygments puts spans beside each other, not into each other."""
    line: _Line = []
    for name, words in _runs(block):
        first, *others = words.split("\n")
        line.append((name, first))
        for other in others:
            yield line
            line = [(name, other)]
    if _text(line):
        yield line


def _runs(block: etree._Element) -> Iterator[tuple[str, str]]:
    """The pieces of the text with the classes that colour them."""
    yield "", block.text or ""
    for part in block:
        name = part.get("class", "")
        yield "" if name in _UNCOLOURED else name, "".join(part.itertext())
        yield "", part.tail or ""


def _parts(runs: _Line) -> list[etree._Element | str]:
    """Runs of one colour as one element, those of none as text."""
    grouped = ((name, _text(list(of_it))) for name, of_it in itertools.groupby(runs, key=lambda run: run[0]))
    return [E.span({"class": name}, words) if name else words for name, words in grouped if words]


def _fill(element: etree._Element, parts: list[etree._Element | str]) -> None:
    for part in parts:
        if not isinstance(part, str):
            element.append(part)
        elif len(element):
            element[-1].tail = part
        else:
            element.text = part
