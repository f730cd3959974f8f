"""A page is static: long lines of code and long names break without losing a character."""

from __future__ import annotations

import pytest
from lxml import etree
from lxml.html import HtmlElement

from extras.editions.markup import find, read, text
from extras.editions.pages import COLUMNS, PIECE, settled

LONG = "b" * (COLUMNS - 2)


def block(code: str) -> HtmlElement:
    """This code as a block of a static page."""
    return read(settled(f'<div class="highlight"><pre><span></span>{code}</pre></div>'))


def test_long_lines_are_marked_and_no_character_is_lost() -> None:
    tree = block(f'a <span class="o">=</span> &lt;\n\n<span class="n">{LONG}</span>xyz\nc\n')
    lines = tree.find_class("fx-line")
    assert tree.text_content() == f"a = <\n\n{LONG}xyz\nc\n"
    assert ["fx-long" in line.classes for line in lines] == [False, False, True, False]
    assert not block("&lt;" * COLUMNS).find_class("fx-line"), "an escaped character counts as one"


def test_a_token_keeps_its_colour_in_each_of_its_lines() -> None:
    tree = block(f'<span class="sd">"""one\n{LONG}xyz"""</span>\n')
    assert [text(part) for part in tree.find_class("sd")] == ['"""one', f'{LONG}xyz"""']


@pytest.mark.parametrize(
    "pieces",
    [("torch", ".export", ".save"), ("_boxed_", "call"), ("students/", "report", ".html"), ("__init__",), ("a" * 21,)],
)
def test_name_in_a_table_breaks_at_a_joint(pieces: tuple[str, ...]) -> None:
    [code] = find(read(settled(f"<table><tr><td><code>{''.join(pieces)}</code></td></tr></table>")), ".//code")
    assert tuple(code.itertext()) == pieces
    assert ("fx-anywhere" in code.classes) is (max(map(len, pieces)) > PIECE)


def test_malformed_page_is_rejected() -> None:
    with pytest.raises(etree.XMLSyntaxError, match="Opening and ending tag mismatch"):
        settled("<p>one</p>\n<p><b>bold</p>")
