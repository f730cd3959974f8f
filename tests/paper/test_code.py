"""A line of code that does not fit goes on below with a mark, and no character of it is lost."""

from __future__ import annotations

import pytest
from lxml import etree

from press.paper import markup
from press.paper.builder import settled
from press.paper.code import COLUMNS, PIECE, TOGETHER

LONG = "b" * (COLUMNS - 2)


def block(code: str) -> str:
    return f'<div class="highlight"><pre><span></span>{code}</pre></div>'


def test_long_lines_are_marked_and_others_are_not() -> None:
    tree = markup.read(settled(block(f'a <span class="o">=</span> 1\n\n<span class="n">{LONG}</span>xyz\nc\n')))
    [pre] = markup.find(tree, ".//h:pre")
    lines = markup.of_class(tree, "fx-line")
    assert "".join(pre.itertext()) == f"a = 1\n\n{LONG}xyz\nc\n"
    assert ["fx-long" in markup.classes(line) for line in lines] == [False, False, True, False]


def test_a_token_of_several_lines_keeps_its_colour_in_each() -> None:
    tree = markup.read(settled(block(f'<span class="sd">"""one\n{LONG}xyz"""</span>\n')))
    coloured = markup.find(tree, ".//h:span[@class='sd']")
    assert [markup.text(part) for part in coloured] == ['"""one', f'{LONG}xyz"""']


def test_a_block_that_fits_is_left_as_it_is() -> None:
    tree = markup.read(settled(block("short\n")))
    assert not markup.of_class(tree, "fx-line")


def test_a_small_block_is_kept_in_one_piece() -> None:
    small, large = (markup.read(settled(block("line\n" * count))) for count in (TOGETHER, TOGETHER + 1))
    assert markup.of_class(small, "fx-together") and not markup.of_class(large, "fx-together")


def test_two_blank_lines_are_one_in_code_and_stay_in_what_a_cell_prints() -> None:
    long = block("one\n\n\n  two\n\nthree\n")
    code, printed = (f'<div class="{kind}">{long}</div>' for kind in ("cell_input", "out"))
    texts = ["".join(markup.find(markup.read(settled(body)), ".//h:pre")[0].itertext()) for body in (code, printed)]
    assert texts == ["one\n\n  two\n\nthree\n", "one\n\n\n  two\n\nthree\n"]


def code_in_a_table(code: str) -> etree._Element:
    [found] = markup.find(
        markup.read(settled(f'<table><tr><td><code><span class="pre">{code}</span></code></td></tr></table>')),
        ".//h:code",
    )
    return found


@pytest.mark.parametrize(
    "pieces",
    [
        ("torch", ".export", ".save"),
        ("owner", ".graph", ".python_", "code(", "'self')", ".src"),
        ("_boxed_", "call"),
        ("students/", "…/", "report", ".html"),
        ("__init__",),
        ("power=", "2.0"),
    ],
)
def test_a_name_in_a_table_goes_on_below_at_a_joint(pieces: tuple[str, ...]) -> None:
    code = code_in_a_table("".join(pieces))
    assert tuple(code.itertext()) == pieces
    assert len(markup.find(code, ".//h:wbr")) == len(pieces) - 1
    assert "fx-anywhere" not in markup.classes(code)


def test_a_name_without_a_joint_breaks_anywhere() -> None:
    assert "fx-anywhere" in markup.classes(code_in_a_table("a" * (PIECE + 1)))
    assert "fx-anywhere" not in markup.classes(code_in_a_table("a" * PIECE))
