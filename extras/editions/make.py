"""Make an edition, and put it where the next build of the site finds it."""

from __future__ import annotations

from pathlib import Path

from extras.editions import pages
from extras.editions.pages import EditionError as EditionError
from extras.editions.pdf import chromium, finish, print_pdf, write
from press import ROOT, imprint

EDITIONS = ROOT / "_build" / "editions"


def pdf() -> Path:
    """Make the PDF and return its path. Raises EditionError if Sphinx or Chromium failed."""
    chromium()  # Raises early, since the pages take minutes.
    folder = pages.make()
    document, whole = pages.BUILD / "book.html", pages.BUILD / "book.pdf"
    headings = write(folder, document)
    print_pdf(document, whole)
    finish(whole, imprint.read(ROOT).authors, headings)
    return _lay(whole, ".pdf")


def epub() -> Path:
    """Make the EPUB and return its path. Raises EditionError if Sphinx warned or failed."""
    return _lay(pages.make() / f"{pages.NAME}.epub", ".epub")


def _lay(file: Path, suffix: str) -> Path:
    EDITIONS.mkdir(parents=True, exist_ok=True)
    return file.replace(EDITIONS / f"{pages.NAME}{suffix}")
