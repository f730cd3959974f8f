"""Chromium for browser tests, and measurements of drawings in a page."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here: install it for the tests of pages in a browser"
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# The colours of a notebook's themes, for a bare page; an output cannot detect the theme.
THEMES = {"light": "background:#fff;color:#222832", "dark": "background:#14181d;color:#dde3e9;color-scheme:dark"}
_LONGEST_MILLISECONDS = 600_000
FILM = ".fx-frames > .fx-film "
STEPPER_HEIGHT = "document.querySelector('.fx-stepper').getBoundingClientRect().height"


def patient(browser: Browser) -> Browser:
    """Give a browser's pages timeouts that are long enough for slow machines."""

    def longer(open_: Callable[..., BrowserContext | Page]) -> Callable[..., BrowserContext | Page]:
        def opened(**options: Any) -> BrowserContext | Page:
            new = open_(**options)
            new.set_default_timeout(_LONGEST_MILLISECONDS)
            return new

        return opened

    browser.new_context, browser.new_page = longer(browser.new_context), longer(browser.new_page)  # type: ignore[method-assign]
    return browser


def texts_outside_their_box(where: str = "") -> str:
    """A script that returns the texts outside the shape of their node, in drawings below the selector ``where``."""
    return f"""() => [...document.querySelectorAll("{where}.fx-node")].flatMap(node => {{
      const box = node.querySelector(".fx-shape").getBBox();
      return [...node.querySelectorAll("text")].filter(text => {{
        const t = text.getBBox();
        const wide = t.x < box.x || t.x + t.width > box.x + box.width;
        return wide || t.y < box.y - 1 || t.y + t.height > box.y + box.height + 1;
      }}).map(text => text.textContent);
    }})"""


def texts_that_overlap(where: str = "") -> str:
    """A script that returns the pairs of visible texts that overlap, in drawings below the selector ``where``."""
    return f"""() => [...document.querySelectorAll("{where}svg")].flatMap(svg => {{
      const texts = [...svg.querySelectorAll("text")]
        .filter(text => getComputedStyle(text).visibility === "visible")
        .map(text => [text.textContent, text.getBoundingClientRect()]);
      return texts.flatMap(([a, p], i) => texts.slice(i + 1).filter(([b, q]) =>
        Math.min(p.right, q.right) - Math.max(p.x, q.x) > 1 && Math.min(p.bottom, q.bottom) - Math.max(p.y, q.y) > 4
      ).map(([b]) => [a, b]));
    }})"""
