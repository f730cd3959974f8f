"""Print a document to PDF with Chromium, the one tool here that draws our pictures as the site does."""

from __future__ import annotations

import datetime
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pikepdf

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
# Page numbers in the contents need `target-counter`, boxes at the head of a page need `@page` with margin boxes.
_TAKES_AT_MOST = 600


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
        pdf.Root.PageMode = pikepdf.Name.UseOutlines
        pdf.Root.ViewerPreferences = pikepdf.Dictionary(DisplayDocTitle=True)
        pdf.save(path, deterministic_id=True, object_stream_mode=pikepdf.ObjectStreamMode.generate)
