"""Print a document to PDF with Chromium, the one tool here that draws our pictures as the site does."""

from __future__ import annotations

import datetime
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pikepdf

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_TAKES_AT_MOST = 3600
_POINTS_OF_A_PIXEL = 0.75


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


def a_font_has(signs: Iterable[str]) -> bool:
    """Whether one of the fonts here has all of the signs; true, too, where nobody can tell."""
    listed = shutil.which("fc-list")
    codes = " ".join(f"{ord(sign):x}" for sign in sorted(set(signs)))
    if not listed or not codes:
        return True
    return bool(subprocess.run([listed, f":charset={codes}"], capture_output=True, text=True).stdout.strip())


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


def scale(path: Path) -> float:
    """How large the first page is printed: 1, unless something in the document is wider than the page.

    Chromium then prints all pages as much smaller as that asks for, and says nothing. What it draws at the edges of a
    page, such as a running head, keeps its size and has no place of its own, so it is not what is measured.
    """
    with pikepdf.open(path) as pdf:
        levels = [pikepdf.Matrix()]
        for operands, operator in pikepdf.parse_content_stream(pdf.pages[0]):
            if str(operator) == "q":
                levels.append(levels[-1])
            elif str(operator) == "Q":
                levels.pop()
            elif str(operator) == "cm":
                step = pikepdf.Matrix(*operands)
                levels[-1] = step @ levels[-1]
                if len(levels) > 1 and (step.e, step.f) != (0, 0):
                    return levels[-1].a / _POINTS_OF_A_PIXEL
    raise PrintError(f"the first page of {path} holds nothing")


def finish_pdf(path: Path, title: str, author: str, epoch: int, headings: Iterable[str] = ()) -> None:
    """Give a printed file the title, the author, a moment that is not that of its print, and an outline with spaces.

    Args:
        path: the file, which is written anew.
        title: shown by readers in place of the file's name.
        author: as on the title page.
        epoch: the moment, in seconds.
        headings: all that the document has; where one goes on below, Chromium's outline lacks the space.
    """
    whole = {"".join(heading.split()): heading for heading in headings}
    moment = f"D:{datetime.datetime.fromtimestamp(epoch, datetime.UTC):%Y%m%d%H%M%S}+00'00'"
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        for key, value in (("Title", title), ("Author", author), ("CreationDate", moment), ("ModDate", moment)):
            pdf.docinfo[f"/{key}"] = value
        with pdf.open_outline() as outline:
            waiting = list(outline.root)
            while waiting:
                entry = waiting.pop()
                waiting += entry.children
                entry.title = whole.get("".join(entry.title.split()), entry.title)
        if "/ID" in pdf.trailer:
            del pdf.trailer["/ID"]  # Its first half stays otherwise, and is another one in each print.
        pdf.Root.PageMode = pikepdf.Name.UseOutlines
        pdf.Root.ViewerPreferences = pikepdf.Dictionary(DisplayDocTitle=True)
        pdf.save(path, deterministic_id=True, object_stream_mode=pikepdf.ObjectStreamMode.generate)
