"""A stepper on paper: at most four frames, each a picture of its own, with what happened in the frames between them."""

from __future__ import annotations

import re

import pytest
from lxml import etree
from playwright.sync_api import Browser
from torch import fx, nn

from fxbook import EditStepper, RunStepper, draw
from press.paper import markup
from press.paper.builder import settled
from press.paper.pages import STATIC, STYLES
from press.paper.stills import AT_MOST, COLUMN, TALLEST, WIDEST
from tests.browsing import needs_chromium


class Block(nn.Module):
    """Two steps to edit."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.ReLU()

    def forward(self, x):
        return self.second(self.first(x)) + x


def edited(frames: int) -> EditStepper:
    """A stepper with that many frames; in the third of them, and in no other inner one, two nodes change."""
    traced = fx.symbolic_trace(Block())
    steps = EditStepper(traced, "as traced", title="An edit")
    for number in range(2, frames + 1):
        if number == 3:
            [node] = traced.graph.find_nodes(op="call_module", target="second")
            with traced.graph.inserting_after(node):
                new = traced.graph.call_method("tanh", (node,))
            node.replace_all_uses_with(new, delete_user_cb=lambda user, new=new: user is not new)
        steps.frame(f"step {number}")
    return steps


def paper(shown: object) -> etree._Element:
    """What stands on paper of something that a cell shows."""
    return markup.read(settled(shown._repr_html_()))


def captions(tree: etree._Element) -> list[str]:
    return [markup.text(caption) for caption in markup.of_class(tree, "fx-caption")]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_few_frames_are_all_there(count: int) -> None:
    found = captions(paper(edited(count)))
    assert len(found) == count and found[-1].endswith(f"step {count}" if count > 1 else "as traced")


def test_of_many_frames_the_ends_and_the_marked_ones_are_shown() -> None:
    tree = paper(edited(8))
    shown = captions(tree)
    assert len(shown) == AT_MOST
    assert shown[0] == "1/8 as traced" and shown[-1] == "8/8 step 8" and "3/8 step 3" in shown


def test_the_frames_between_are_told() -> None:
    tree = paper(edited(8))
    between = [markup.text(item) for told in markup.of_class(tree, "fx-between") for item in told]
    assert sorted(captions(tree) + between) == [
        f"{at}/8 {'as traced' if at == 1 else f'step {at}'}" for at in range(1, 9)
    ]


def test_each_frame_has_the_drawing_as_it_was_then() -> None:
    tree = paper(edited(4))
    names = [
        {markup.text(name) for name in markup.of_class(film, "fx-name")} for film in markup.of_class(tree, "fx-film")
    ]
    assert ["tanh" in found for found in names] == [False, False, True, True]
    assert all({"x", "first", "second", "add", "output"} <= found for found in names)
    assert not markup.find(tree, ".//s:use | .//s:defs")
    assert "var(" not in markup.written(tree)


def test_all_drawings_of_a_stepper_have_one_scale_and_fit() -> None:
    tree = paper(edited(4))
    sizes = set()
    for film in markup.of_class(tree, "fx-film"):
        [svg] = markup.find(film, ".//s:svg")
        width, height = map(float, re.findall(r"(?:width|height):([\d.]+)px", svg.get("style")))
        sizes.add((width, height))
    assert len(sizes) == 1
    [(width, height)] = sizes
    assert 2 * width <= COLUMN and height <= TALLEST


@pytest.mark.parametrize("order", ["list", "data"])
def test_a_drawing_fits_into_a_column(order: str) -> None:
    tree = paper(draw(fx.symbolic_trace(Block()), order=order))
    [drawing] = markup.of_class(tree, "fx-drawing")
    assert "fx-across" not in markup.classes(drawing)
    [svg] = markup.find(drawing, ".//h:figure//s:svg[@role='img']")
    width, height = map(float, re.findall(r"(?:width|height):([\d.]+)px", svg.get("style")))
    assert width <= COLUMN < WIDEST / 2 and height <= TALLEST


def test_code_stands_where_it_is_another_than_before() -> None:
    traced = fx.symbolic_trace(Block())
    steps = EditStepper(traced, "as traced")
    steps.frame("nothing")
    traced.graph.find_nodes(op="call_module", target="second")[0].target = "first"
    traced.recompile()
    steps.frame("recompiled")
    tree = paper(steps)
    headings = [markup.text(heading) for heading in markup.of_class(tree, "fx-heading") if "code" in heading.text]
    assert [heading.partition(" ")[0] for heading in headings] == ["1/3", "3/3"]


def test_a_run_is_shown_too() -> None:
    import torch

    tree = paper(RunStepper(fx.symbolic_trace(Block()), torch.ones(2, 4)))
    assert len(captions(tree)) == AT_MOST
    assert len(markup.of_class(tree, "fx-film")) >= AT_MOST


def test_nothing_that_moves_or_loads_is_left() -> None:
    body = settled(edited(4)._repr_html_() + draw(fx.symbolic_trace(Block()))._repr_html_())
    assert not re.search(r"<(script|style|button|details)|tabindex|data-fx|\son\w+=", body)


@needs_chromium
def test_what_stands_on_paper_is_seen(browser: Browser) -> None:
    """A class of the site's own style may hide what has the same name here."""
    page = browser.new_page()
    style = "".join(path.read_text(encoding="utf-8") for path in (*STYLES, STATIC / "print.css"))
    body = settled(edited(8)._repr_html_() + draw(fx.symbolic_trace(Block()))._repr_html_())
    page.set_content(f"<!DOCTYPE html><meta charset=utf-8><style>{style}</style><article>{body}</article>")
    page.emulate_media(media="print")
    seen = page.evaluate(
        "name => [...document.querySelectorAll(name)].filter(one => one.checkVisibility()).length", ".fx-film svg"
    )
    assert seen == AT_MOST
    assert page.locator(".fx-caption", has_text="step 8").is_visible()
    assert page.locator(".fx-drawing:not(.fx-stepper) figure svg").is_visible()
    assert page.locator(".fx-table").count() and not page.locator(".fx-table").is_visible()
    page.close()


def test_what_is_not_well_formed_is_named() -> None:
    with pytest.raises(markup.MarkupError, match=r"Opening and ending tag.*<b>bold"):
        settled("<p>one</p>\n<p><b>bold</p>")
