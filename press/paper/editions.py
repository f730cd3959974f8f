"""The two one-file editions: made, dated, and laid where the next build of the site finds and offers them."""

from __future__ import annotations

import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from press import ROOT
from press.paper import chromium, pages, sheets
from press.paper.contents import leaves

_PRINTS = 4
_FULL_SIZE = 0.999
EDITIONS = ROOT / "_build" / "editions"
"""Where the files are; the next build of the site takes them along, and its pages offer them."""


def pdf() -> Path:
    """Make the PDF.

    Returns:
        The file.

    Raises:
        subprocess.CalledProcessError: Sphinx warned or failed.
        PrintError: Chromium is not there, or failed.
    """
    chromium.chromium()  # before the minutes that the pages take
    if not chromium.a_font_has(_eastern_signs()):
        print("No font here has Chinese and Japanese: the words of them in the glossary and in the fact check will be "
              "empty boxes. On Debian and Ubuntu: apt install fonts-droid-fallback", file=sys.stderr)  # fmt: skip
    folder = pages.make()
    told = pages.config()
    with tempfile.TemporaryDirectory(dir=pages.BUILD) as scratch:
        printed = Path(scratch) / "book.pdf"
        print_sheets(folder, printed)
        chromium.finish_pdf(printed, told["title"], told["author"], pages.epoch(), sheets.titles(folder))
        return _lay(printed, f"{pages.NAME}.pdf")


def _eastern_signs() -> set[str]:
    """The Chinese and Japanese signs of the reference."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "book" / "reference").glob("*.md"))
    return {sign for text in texts for sign in text if "\u3040" <= sign <= "\u9fff"}


def print_sheets(folder: Path, target: Path, toc: Path = ROOT / "_toc.yml") -> None:
    """Print until the numbers of the pages that the sheets name are those that they are printed on: twice.

    Args:
        folder: the pages, as :func:`press.paper.pages.make` leaves them.
        target: the file to write.
        toc: the table of contents of the site.

    Raises:
        PrintError: a page of the book is wider than the paper, or the numbers do not settle.
    """
    numbers: dict[str, int] = {}
    for _ in range(_PRINTS):
        chromium.print_pdf(sheets.write(folder, target.with_suffix(".html"), toc, numbers), target)
        if (scale := chromium.scale(target)) < _FULL_SIZE:
            raise chromium.PrintError(f"Something is wider than the paper, so Chromium printed all at {scale:.0%} of "
                                      f"its size. It is in {', '.join(_wide(folder, target, toc))}")  # fmt: skip
        found = chromium.places(target)
        if found == numbers:
            return
        numbers = found
    raise chromium.PrintError(f"the numbers of the pages differ after {_PRINTS} prints: see `.fx-number` in print.css")


def _wide(folder: Path, target: Path, toc: Path) -> Iterator[str]:
    """The pages of the book that alone are printed smaller, too."""
    for leaf in leaves(toc):
        chromium.print_pdf(sheets.write(folder, target.with_suffix(".html"), toc, only=leaf.name), target)
        if chromium.scale(target) < _FULL_SIZE:
            yield leaf.name


def epub() -> Path:
    """Make the EPUB.

    Returns:
        The file.

    Raises:
        subprocess.CalledProcessError: Sphinx warned or failed.
    """
    made = pages.make() / f"{pages.NAME}.epub"
    with tempfile.TemporaryDirectory(dir=pages.BUILD) as scratch:
        packed = Path(scratch) / made.name
        repack(made, packed, pages.epoch())
        return _lay(packed, made.name)


def repack(source: Path, target: Path, epoch: int) -> None:
    """Pack an EPUB anew with one date on all its files, so that the same pages give the same bytes.

    Args:
        source: as Sphinx packed it; its first entry says what it is, and stays first and uncompressed.
        target: the file to write.
        epoch: the date, in seconds.
    """
    moment = time.gmtime(epoch)[:6]
    with zipfile.ZipFile(source) as given, zipfile.ZipFile(target, "w") as packed:
        first, *others = given.infolist()
        for entry in (first, *sorted(others, key=lambda entry: entry.filename)):
            dated = zipfile.ZipInfo(entry.filename, moment)
            dated.external_attr = 0o644 << 16
            method = zipfile.ZIP_STORED if entry is first else zipfile.ZIP_DEFLATED
            packed.writestr(dated, given.read(entry), method, compresslevel=9)


def _lay(file: Path, name: str) -> Path:
    """Put a finished file to the editions, in one step."""
    EDITIONS.mkdir(parents=True, exist_ok=True)
    return file.replace(EDITIONS / name)
