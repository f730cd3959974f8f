"""The pages of the built book that `_toc.yml` lists, and functions that read them."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import yaml
from bs4 import BeautifulSoup

from press import ROOT

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))


def documents(entries: list[dict]) -> Iterator[str]:
    """The documents of a list of entries and of their sections, in reading order."""
    for entry in entries:
        yield entry["file"]
        yield from documents(entry.get("sections", []))


PARTS = [(part.get("caption", ""), list(documents(part["chapters"]))) for part in TOC["parts"]]
PAGES = [TOC["root"], *(page for _, pages in PARTS for page in pages)]
CHAPTERS = [page for page in PAGES if re.match(r"chapters/\d", page)]
PROJECTS = [page for page in PAGES if page.startswith("chapters/P")]


@functools.cache
def parsed(html: Path) -> BeautifulSoup:
    """A built page as a tree, which is shared and must not be changed."""
    return BeautifulSoup(html.read_text("utf-8"), "html.parser")


@functools.cache
def ids_of(html: Path) -> Counter[str]:
    """How often each id occurs on a built page."""
    return Counter(tag["id"] for tag in parsed(html)(id=True))


def article(book: Path, page: str) -> BeautifulSoup:
    """The main content of a page, without the theme around it."""
    article = parsed(book / f"{page}.html").select_one("article.bd-article")
    assert article, f"{page}: no article"
    return article
