"""Take the pictures for the README from the built site: a puzzle, light and dark, and an animated stepper."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from press import ROOT
from press.book import Book

PAGES = {"light": ROOT / "book" / "page_light.png", "dark": ROOT / "book" / "page_dark.png"}
STEPPER = ROOT / "book" / "stepper.gif"
_FIRST, _LAB = "_build/html/chapters/intro.html", "_build/html/chapters/reference/graph_lab.html"
# The colours of a picture, and the milliseconds for each frame.
_COLOURS, _SHOWN = 256, 2500


def take(book: Book) -> int:
    """Take all three pictures with Chromium; return the exit status."""
    from PIL import Image
    from playwright.sync_api import Page, sync_playwright

    from extras.editions.pdf import chromium

    if not (book.root / _FIRST).is_file():
        print(f"{_FIRST} is missing: run make book", file=sys.stderr)
        return 1

    def reduced(*shots: bytes) -> list[Image.Image]:
        """Pictures of one size, with the same few colours in each."""
        images = [Image.open(io.BytesIO(shot)).convert("RGB") for shot in shots]
        width, height = images[0].size
        strip = Image.new("RGB", (width, height * len(images)))
        for row, image in enumerate(images):
            strip.paste(image, (0, row * height))
        # Maximum coverage keeps the colours of small signs.
        strip = strip.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        return [strip.crop((0, row * height, width, (row + 1) * height)) for row in range(len(images))]

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium())

        def opened(file: str, width: int, height: int, scheme: str) -> Page:
            """A page without motion: a picture may be taken at once after a step."""
            size = {"width": width, "height": height}
            page = browser.new_page(viewport=size, color_scheme=scheme, reduced_motion="reduce")
            page.goto((book.root / file).as_uri())
            return page

        for scheme, target in PAGES.items():
            page = opened(_LAB, 1400, 950, scheme)
            puzzle = page.locator("[data-fx-puzzle=another-function]")
            puzzle.get_by_role("button", name="relu", exact=True).last.click()
            puzzle.get_by_role("button", name="Change what it calls").click()
            puzzle.locator("form select").select_option("torch.tanh")
            puzzle.get_by_role("button", name="Set", exact=True).click()
            puzzle.evaluate("it => scrollTo(0, it.getBoundingClientRect().top + scrollY - 60)")
            reduced(page.screenshot())[0].save(target, optimize=True)
        page = opened(_FIRST, 1000, 800, "light")
        stepper, following = page.locator(".fx-stepper").first, page.get_by_role("button", name="Next").first
        frames = [stepper.screenshot()]
        while following.is_enabled():
            following.click()
            frames.append(stepper.screenshot())
        browser.close()
    first, *rest = reduced(*frames)
    first.save(STEPPER, save_all=True, append_images=rest, duration=_SHOWN, loop=0, optimize=True)
    for target in (*PAGES.values(), STEPPER):
        print(f"{Path(target).relative_to(book.root)}: {target.stat().st_size / 1000:.0f} kB")
    return 0
