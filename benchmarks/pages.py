"""Measure the weight of each page of the built book: ``python benchmarks/pages.py [PAGE …]`` from the root.

For the first load of a page, it counts the requests, their bodies in transit (gzip, level 6, unless they are already
compressed), and the elements in the document once the scripts have run.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

COMPRESSED = (".png", ".jpg", ".woff", ".woff2", ".gz", ".zip")
ELEMENTS = "document.querySelectorAll('*').length"
# The tab icon, which a headless browser does not fetch.
ICON = "document.querySelector('link[rel=icon]').href"


class Weight(NamedTuple):
    requests: int
    bytes: int
    elements: int


def travels(file: Path) -> int:
    data = file.read_bytes()
    return len(data) if file.suffix in COMPRESSED else len(gzip.compress(data, 6))


def weigh(browser: Browser, html: Path) -> Weight:
    """Load a built page for the first time, and measure it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    fetched: list[str] = []
    page.on("request", lambda request: request.url.startswith("data:") or fetched.append(request.url))
    page.goto(html.as_uri(), wait_until="networkidle")
    fetched.append(page.evaluate(ICON))
    elements = page.evaluate(ELEMENTS)
    context.close()
    files = [Path(unquote(urlsplit(url).path)) for url in dict.fromkeys(fetched)]
    return Weight(len(files), sum(map(travels, files)), elements)


def main(names: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(Path(__file__).parent.parent))
    from press.binding import bind
    from tests.browsing import CHROMIUM, FLAGS
    from tests.site.pages import PAGES

    book = bind.build().parent
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        weights = {name: weigh(browser, book / f"{name}.html") for name in names or PAGES}
        browser.close()
    print(f"{'page':48} {'KB, gzipped':>12} {'requests':>9} {'elements':>9}")
    for name, weight in sorted(weights.items(), key=lambda item: item[1].bytes):
        print(f"{name:48} {weight.bytes / 1000:12.1f} {weight.requests:9} {weight.elements:9}")


if __name__ == "__main__":
    main(sys.argv[1:])
