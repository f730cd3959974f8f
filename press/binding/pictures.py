"""Take the pictures for the README from the built site: its first page, light and dark, and an animated stepper."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from press import ROOT
from press.book import Book

PAGES = {"light": ROOT / "book" / "page_light.png", "dark": ROOT / "book" / "page_dark.png"}
STEPPER = ROOT / "book" / "stepper.gif"
_SITE = "_build/html/chapters/intro.html"
_WIDTH, _HEIGHT = 1400, 900
# The fewest colours that still look right, and the milliseconds for each frame.
_COLOURS, _SHOWN = 48, 2500


def take(book: Book) -> int:
    """Take all three pictures with Chromium; return the exit status."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    from extras.editions.pdf import chromium

    page_file = book.root / _SITE
    if not page_file.is_file():
        print(f"{_SITE} is missing: run make book", file=sys.stderr)
        return 1

    def reduced(png: bytes) -> Image.Image:
        return Image.open(io.BytesIO(png)).convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium())
        for scheme, target in PAGES.items():
            page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme=scheme)
            page.goto(page_file.as_uri())
            page.get_by_role("button", name="Next").first.click()
            reduced(page.screenshot()).save(target, optimize=True)
        page = browser.new_page(viewport={"width": 1000, "height": 800}, color_scheme="light")
        page.goto(page_file.as_uri())
        stepper, following = page.locator(".fx-stepper").first, page.get_by_role("button", name="Next").first
        frames = [reduced(stepper.screenshot())]
        while following.is_enabled():
            following.click()
            frames.append(reduced(stepper.screenshot()))
        browser.close()
    first, *rest = frames
    first.save(STEPPER, save_all=True, append_images=rest, duration=_SHOWN, loop=0, optimize=True)
    for target in (*PAGES.values(), STEPPER):
        print(f"{Path(target).relative_to(book.root)}: {target.stat().st_size / 1000:.0f} kB")
    return 0
