"""Pages have descriptions, the 404 page works at any depth, and with an address there are cards and a sitemap."""

from __future__ import annotations

import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from PIL import Image, ImageChops
from playwright.sync_api import Browser

from press import ROOT
from press.binding import card
from tests.browsing import needs_chromium
from tests.loading import load
from tests.site.pages import PAGES, TOC, ids_of, parsed
from tests.site.serving import served

found = load("book/_ext/page_metadata.py")
TITLE = "torch.fx, Node by Node"
SETTINGS = """\
extensions = ["sphinx_external_toc", "sphinx_book_theme", "navigation", "page_metadata", "bundle"]
import sys
sys.path.insert(0, {ext!r})
smartquotes = False
html_theme, html_title, project = "sphinx_book_theme", "A book", "A book"
html_baseurl = {base!r}
html_static_path, templates_path = [{static!r}], [{templates!r}]
html_css_files, html_js_files = ["book.css", "navigation.css"], ["keys.js", "contents.js", "memory.js"]
html_sidebars = {{"**": ["sbt-sidebar-nav.html"]}}
"""
builds_a_site = pytest.mark.room(name="site")
PAGES_OF_SMALL = {
    "index": "A book\n======\n\nA book of two pages, which is here for the tests of the site.\n",
    "part/two": 'Two\n===\n\nThe second page says what `it` is "about". More.\n',
}


def small_book(folder: Path, base: str) -> Path:
    """A small book with the real theme and extensions, built for an address."""
    source = folder / "source"
    for name, text in PAGES_OF_SMALL.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / f"{name}.rst").write_text(text)
    (source / "_toc.yml").write_text("root: index\nentries:\n- file: part/two\n")
    places = {name: str(ROOT / "book" / folder) for name, folder in
              (("ext", "_ext"), ("static", "_static"), ("templates", "_templates"))}  # fmt: skip
    (source / "conf.py").write_text(SETTINGS.format(base=base, **places))
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(source), str(folder / "out")]
    subprocess.run(command, check=True)
    return folder / "out"


@pytest.fixture(scope="module")
def addressed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A book that is served at its address, below a path, like the pages of a project."""
    folder = tmp_path_factory.mktemp("addressed")
    empty = folder / "empty"
    empty.mkdir()
    with served(empty, "/a/book/") as address:
        out = small_book(folder, address)
        shutil.copytree(out, empty, dirs_exist_ok=True)
        yield out, address


def described(html: Path) -> str:
    tags = parsed(html).select("head meta[name=description]")
    assert len(tags) == 1, html
    return tags[0]["content"]


# ---- Descriptions ----------------------------------------------------------------------------------------------------


def test_each_page_has_a_description_of_its_own(built_book: Path) -> None:
    descriptions = {page: described(built_book / f"{page}.html") for page in PAGES}
    assert [page for page, text in descriptions.items() if not 40 <= len(text) <= 160] == []
    assert len(set(descriptions.values())) == len(descriptions)


def test_no_title_repeats_itself(built_book: Path) -> None:
    titles = {page: parsed(built_book / f"{page}.html").title.get_text(strip=True) for page in PAGES}
    assert titles[TOC["root"]] == TITLE
    assert len(set(titles.values())) == len(titles)
    assert [title for title in titles.values() if title.count(TITLE) != 1] == []
    assert [title for title in titles.values() if title != TITLE and not title.endswith(f" — {TITLE}")] == []


# ---- Without an address ----------------------------------------------------------------------------------------------


@builds_a_site
def test_without_an_address_nothing_needs_one(tmp_path: Path) -> None:
    out = small_book(tmp_path, "")
    assert [name for name in (found.MAP, found.ROBOTS) if (out / name).exists()] == []
    for page in PAGES_OF_SMALL:
        assert parsed(out / f"{page}.html").select("meta[property^='og:'], base, link[rel=canonical]") == []


# ---- With an address -------------------------------------------------------------------------------------------------


@builds_a_site
def test_a_page_has_a_card_with_whole_addresses(addressed: tuple[Path, str]) -> None:
    out, address = addressed
    page = parsed(out / "part/two.html")
    properties = {tag["property"]: tag["content"] for tag in page.select("meta[property^='og:']")}
    assert properties["og:title"] == "Two" and properties["og:url"] == f"{address}part/two.html"
    assert properties["og:description"] == described(out / "part/two.html")
    assert properties["og:description"].startswith('The second page says what it is "about".')
    assert properties["og:image"] == f"{address}_static/card.png" and (out / "_static/card.png").is_file()
    assert page.select_one("meta[name='twitter:card']")["content"] == "summary_large_image"
    assert page.select_one("link[rel=canonical]")["href"] == properties["og:url"]


@builds_a_site
def test_the_sitemap_lists_each_page_and_robots_txt_names_it(addressed: tuple[Path, str]) -> None:
    out, address = addressed
    space = {"map": "http://www.sitemaps.org/schemas/sitemap/0.9"}
    listed = [loc.text for loc in ET.parse(out / found.MAP).iterfind("map:url/map:loc", space)]
    assert listed == [f"{address}index.html", f"{address}part/two.html"]
    assert f"Sitemap: {address}{found.MAP}" in (out / found.ROBOTS).read_text().splitlines()


@needs_chromium
@builds_a_site
@pytest.mark.parametrize("missing", ["nothing.html", "part/nothing.html", "a/b/c/d/"])
def test_404_page_works_at_any_depth(browser: Browser, addressed: tuple[Path, str], missing: str) -> None:
    _, address = addressed
    page = browser.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("response", lambda answer: answer.status >= 400 and troubles.append(answer.url))
    page.goto(address + missing, wait_until="networkidle")
    assert troubles == [address + missing], "only the missing page itself fails, and nothing that the 404 page loads"
    assert page.locator("h1").inner_text().startswith("There is no such page")
    assert page.evaluate("getComputedStyle(document.querySelector('.bd-article')).lineHeight") != "normal"
    page.locator("nav.bd-docs-nav a", has_text="Two").click()
    page.wait_for_url(f"{address}part/two.html")
    page.close()


@builds_a_site
def test_404_page_is_not_indexed(addressed: tuple[Path, str]) -> None:
    page = BeautifulSoup((addressed[0] / "404.html").read_text(), "html.parser")
    assert page.select_one("meta[name=robots]")["content"] == "noindex"


def test_404_page_links_to_the_root_without_an_address(built_book: Path) -> None:
    page = parsed(built_book / "404.html")
    ways = [link["href"].partition("#") for link in page.select("article li a")]
    assert len(ways) == 3
    for path, _, anchor in ways:
        assert path.startswith("/") and (not anchor or anchor in ids_of(built_book / path[1:])), path
    assert page.select_one("article form")["action"] == "/search.html"
    loaded = [tag.get("href") or tag.get("src") for tag in page.select("link[rel=stylesheet], script[src], img")]
    assert loaded and all(path.startswith("/") for path in loaded)


# ---- The card --------------------------------------------------------------------------------------------------------


def test_the_card_is_what_its_code_draws(tmp_path: Path) -> None:
    card.draw(tmp_path / "card.png")
    with Image.open(card.CARD) as kept, Image.open(tmp_path / "card.png") as drawn:
        assert kept.size == drawn.size == found.CARD_SIZE == (card.WIDTH, card.HEIGHT)
        difference = ImageChops.difference(kept.convert("L"), drawn.convert("L"))
        # Another version of matplotlib may shift a letter by half a pixel.
        assert sum(difference.histogram()[48:]) < 0.005 * card.WIDTH * card.HEIGHT, "run `python -m press card`"
    assert card.CARD.stat().st_size < 100_000
