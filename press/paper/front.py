"""The title page of both editions."""

from __future__ import annotations

from lxml import etree

from press.paper import pages
from press.paper.markup import E

NAME = "title-page"
"""What the page is called in the EPUB."""


def title_page() -> etree._Element:
    """The title, the authors, what the outputs were proven with, and the day of the edition."""
    told = pages.config()
    return E.section(
        {"class": "fx-title-page"},
        E.p({"class": "fx-book-title"}, told["title"]),
        E.p({"class": "fx-book-author"}, f"By {told['author']}"),
        E.p(
            {"class": "fx-book-proof"},
            f"Every output in this book was printed by torch {pages.torch_version()}, and a test compares it with what "
            "the cell prints (timings excepted).",
        ),
        E.p({"class": "fx-book-date"}, pages.date()),
    )
