"""In a stepper without a script, up to four frames are drawn, and every frame has its caption."""

from __future__ import annotations

import re
from functools import cache

import torch
from lxml.html import HtmlElement
from playwright.sync_api import Browser
from torch import fx, nn

from extras.editions.markup import find, read, text
from extras.editions.pages import STATIC, STYLES, settled
from extras.editions.static_steppers import AT_MOST
from fxbook import EditStepper, RunStepper, draw
from tests.browsing import needs_chromium


class Block(nn.Module):
    """A model with two layers to edit."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.ReLU()

    def forward(self, x):
        return self.second(self.first(x)) + x


@cache
def edited(frames: int) -> str:
    """A stepper with this many frames; of all but the first and last, only the third changes two nodes."""
    traced = fx.symbolic_trace(Block())
    steps = EditStepper(traced, "as traced", title="An edit")
    for number in range(2, frames + 1):
        if number == 3:
            [node] = traced.graph.find_nodes(op="call_module", target="second")
            with traced.graph.inserting_after(node):
                new = traced.graph.call_method("tanh", (node,))
            node.replace_all_uses_with(new, delete_user_cb=lambda user, new=new: user is not new)
        steps.frame(f"step {number}")
    return settled(steps._repr_html_())


def drawn(tree: HtmlElement) -> list[str]:
    """The captions of the drawn frames."""
    frames = tree.find_class("fx-frame")
    return [text(frame.find_class("fx-caption")[0]) for frame in frames if frame.find_class("fx-film")]


def test_first_last_and_changed_frames_are_drawn() -> None:
    assert len(drawn(read(edited(1)))) == 1 and len(drawn(read(edited(4)))) == 4
    tree = read(edited(8))
    assert len(drawn(tree)) == AT_MOST and {"1/8 as traced", "3/8 step 3", "8/8 step 8"} < {*drawn(tree)}
    captions = [text(caption) for caption in tree.find_class("fx-caption")]
    assert captions == ["1/8 as traced", *(f"{at}/8 step {at}" for at in range(2, 9))]


def test_each_frame_has_its_own_drawing() -> None:
    tree = read(edited(4))
    names = [{text(name) for name in film.find_class("fx-name")} for film in tree.find_class("fx-film")]
    assert ["tanh" in found for found in names] == [False, False, True, True]
    assert all({"x", "first", "second", "add", "output"} <= found for found in names)
    assert not find(tree, ".//s:use | .//s:defs") and "var(" not in edited(4)
    # In frames without the new node, the rows below it move up.
    moved = [bool(find(film, ".//*[starts-with(@transform, 'translate(0 -')]")) for film in tree.find_class("fx-film")]
    assert moved == [True, True, False, False]


def test_code_is_shown_if_it_differs_from_the_previous_frame() -> None:
    traced = fx.symbolic_trace(Block())
    steps = EditStepper(traced, "as traced")
    steps.frame("nothing")
    traced.graph.find_nodes(op="call_module", target="second")[0].target = "first"
    traced.recompile()
    steps.frame("recompiled")
    frames = read(settled(steps._repr_html_())).find_class("fx-frame")
    assert [bool(frame.find_class("fx-code")) for frame in frames] == [True, False, True]


def test_nothing_that_moves_or_loads_is_left() -> None:
    run = settled(RunStepper(fx.symbolic_trace(Block()), torch.ones(2, 4))._repr_html_())
    assert len(drawn(read(run))) == AT_MOST
    assert not re.search(r"<(script|style|button|details)|tabindex|data-fx|\son\w+=", edited(4) + run)


@needs_chromium
def test_drawings_are_visible(browser: Browser) -> None:
    """A class name must not be one that the site's own style hides."""
    page = browser.new_page()
    style = "".join(path.read_text(encoding="utf-8") for path in (*STYLES, STATIC / "print.css"))
    body = edited(8) + settled(draw(fx.symbolic_trace(Block()))._repr_html_())
    page.set_content(f"<!DOCTYPE html><meta charset=utf-8><style>{style}</style><article>{body}</article>")
    page.emulate_media(media="print")
    assert page.locator(".fx-film svg:visible").count() == AT_MOST
    assert page.locator(".fx-caption", has_text="step 8").is_visible()
    assert page.locator(".fx-drawing:not(.fx-stepper) figure svg").is_visible()
    assert page.locator(".fx-table").count() and not page.locator(".fx-table").is_visible()
    page.close()
