"""Print a document to PDF with Chromium, the one tool here that draws our pictures as the site does."""

from __future__ import annotations

import datetime
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import pikepdf

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_TAKES_AT_MOST = 3600


class PrintError(RuntimeError):
    """The document cannot be printed; the message says what to do."""


def chromium() -> str:
    """The browser that prints; ``CHROMIUM`` names another one.

    Raises:
        PrintError: there is none.
    """
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if not found:
        raise PrintError("Chromium prints the PDF, and none is here: on Debian and Ubuntu, apt install chromium; "
                         "elsewhere, set CHROMIUM to the program of Chromium or Chrome")  # fmt: skip
    return found


def print_pdf(document: Path, target: Path) -> None:
    """Print the document.

    Raises:
        PrintError: there is no Chromium, or it failed.
    """
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        command += ["--no-pdf-header-footer", "--generate-pdf-document-outline", f"--user-data-dir={profile}"]
        command += [f"--print-to-pdf={target}", document.as_uri()]
        try:
            outcome = subprocess.run(command, capture_output=True, text=True, timeout=_TAKES_AT_MOST)
        except subprocess.TimeoutExpired as error:
            raise PrintError(f"Chromium did not print {document} in {_TAKES_AT_MOST} s") from error
    if outcome.returncode or not target.is_file():
        raise PrintError(f"Chromium did not print {document}:\n{outcome.stderr.strip()[-2000:]}")


def scripts_without_font(languages: Mapping[str, str]) -> list[str]:
    """Of languages, by their codes, the names of those that no font here has; none where nobody can tell."""
    listed = shutil.which("fc-list")
    if not listed:
        return []
    found = {
        code: subprocess.run([listed, f":lang={code}", "family"], capture_output=True, text=True).stdout
        for code in languages
    }
    return [name for code, name in languages.items() if not found[code].strip()]


def places(path: Path) -> dict[str, int]:
    """By id, the number of the page on which each place stands that a link of the document leads to.

    Chromium has no ``target-counter``, so the numbers are read from one print and written into the next.
    """
    with pikepdf.open(path) as pdf:
        pages = {page.objgen: number for number, page in enumerate(pdf.pages, 1)}
        if "/Dests" in pdf.Root:
            named = list(pdf.Root.Dests.items())
        else:
            named = [(str(name), place) for name, place in pikepdf.NameTree(pdf.Root.Names.Dests).items()]
        found = {name.removeprefix("/"): place for name, place in named}
        arrays = {name: place if isinstance(place, pikepdf.Array) else place.D for name, place in found.items()}
        return {name: pages[place[0].objgen] for name, place in arrays.items()}


def name_outline(path: Path, titles: Iterable[str]) -> None:
    """Give the entries of the outline their titles: Chromium leaves out the space where a heading goes on below.

    Args:
        path: the file, which is written anew.
        titles: of all headings.
    """
    whole = {"".join(title.split()): title for title in titles}
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        with pdf.open_outline() as outline:
            waiting = list(outline.root)
            while waiting:
                entry = waiting.pop()
                waiting += entry.children
                entry.title = whole.get("".join(entry.title.split()), entry.title)
        pdf.save(path)


def date_pdf(path: Path, title: str, author: str, epoch: int) -> None:
    """Give a printed file the title, the author and a moment that is not that of its print.

    Args:
        path: the file, which is written anew.
        title: shown by readers in place of the file's name.
        author: as on the title page.
        epoch: the moment, in seconds.
    """
    moment = f"D:{datetime.datetime.fromtimestamp(epoch, datetime.UTC):%Y%m%d%H%M%S}+00'00'"
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        for key, value in (("Title", title), ("Author", author), ("CreationDate", moment), ("ModDate", moment)):
            pdf.docinfo[f"/{key}"] = value
        if "/ID" in pdf.trailer:
            del pdf.trailer["/ID"]  # Its first half stays otherwise, and is another one in each print.
        pdf.Root.PageMode = pikepdf.Name.UseOutlines
        pdf.Root.ViewerPreferences = pikepdf.Dictionary(DisplayDocTitle=True)
        pdf.save(path, deterministic_id=True, object_stream_mode=pikepdf.ObjectStreamMode.generate)
