"""What the browser tests share: where Chromium is, how it is started, and what is measured of a drawing in a page."""

from __future__ import annotations

import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: install it to see pages in a browser")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# A bare page in the colours of the two themes, as a notebook has them; nothing tells the output which one it is.
THEMES = {"light": "background:#fff;color:#222832", "dark": "background:#14181d;color:#dde3e9;color-scheme:dark"}
FILM = ".fx-frames > .fx-film "
STEPPER_HEIGHT = "document.querySelector('.fx-stepper').getBoundingClientRect().height"


def texts_outside_their_box(where: str = "") -> str:
    """Script: the texts of nodes, in drawings below the selector ``where``, that leave the shape they stand in."""
    return f"""() => [...document.querySelectorAll("{where}.fx-node")].flatMap(node => {{
      const box = node.querySelector(".fx-shape").getBBox();
      return [...node.querySelectorAll("text")].filter(text => {{
        const t = text.getBBox();
        const wide = t.x < box.x || t.x + t.width > box.x + box.width;
        return wide || t.y < box.y - 1 || t.y + t.height > box.y + box.height + 1;
      }}).map(text => text.textContent);
    }})"""
