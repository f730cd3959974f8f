"""Make one HTML document from all pages, with a title page and the contents, and print it with Chromium."""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import lxml.html
import pikepdf
from lxml import etree
from lxml.html import HtmlElement
from lxml.html.builder import E

from extras.editions import pages
from extras.editions.markup import XHTML, find, text
from extras.editions.toc import Entry, entries
from press import ROOT

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_TAKES_AT_MOST = 3600
_ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:", re.IGNORECASE)
_XLINK = "{http://www.w3.org/1999/xlink}href"
# A table with this many columns spans both columns of the page.
_WIDE_TABLE = 5
_CHEAT_SHEET = "chapters/reference/cheat_sheet"
# Reference pages are set in smaller type.
_LOOKED_UP = ("chapters/reference/", "exercises/", "solutions/", "chapters/when_it_breaks/")


def chromium() -> str:
    """The browser that prints; ``CHROMIUM`` names a different one. Raises EditionError if there is none."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _BROWSERS)), None)
    if not found:
        advice = "on Debian and Ubuntu, apt install chromium; elsewhere, set CHROMIUM to the path of Chromium or Chrome"
        raise pages.EditionError(f"Chromium, which prints the PDF, is not installed: {advice}")
    return found


def print_pdf(document: Path, target: Path) -> None:
    """Print a document. Raises EditionError if Chromium is missing or failed."""
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        command += ["--no-pdf-header-footer", "--generate-pdf-document-outline", f"--user-data-dir={profile}"]
        command += [f"--print-to-pdf={target}", document.as_uri()]
        outcome = subprocess.run(command, capture_output=True, text=True, timeout=_TAKES_AT_MOST)
    if outcome.returncode or not target.is_file():
        raise pages.EditionError(f"Chromium did not print {document}:\n{outcome.stderr.strip()[-2000:]}")


def write(folder: Path, target: Path, toc: Path = ROOT / "_toc.yml") -> list[str]:
    """Write the document from the pages in a folder; return the words of its headings."""
    places = {entry: f"page-{number}" for number, entry in enumerate(entries(toc))}
    named = {entry.name: place for entry, place in places.items()}
    articles = [_article(folder, entry, named) for entry in places]
    styles = [(folder / "_static" / "pygments.css").read_text(encoding="utf-8")]
    styles += [path.read_text(encoding="utf-8") for path in (*pages.STYLES, pages.STATIC / "print.css")]
    styles += [
        _running_head(entry, place, _title(article))
        for (entry, place), article in zip(places.items(), articles, strict=True)
    ]
    contents = _contents(places, [_title(article) for article in articles])
    document = E.html(
        {"lang": "en"},
        E.head(E.meta({"charset": "utf-8"}), E.title(pages.config()["title"]), E.style("\n".join(styles))),
        E.body(E.main(pages.title_page(), contents, *articles)),
    )
    target.write_text(lxml.html.tostring(document, encoding="unicode", doctype="<!DOCTYPE html>"), encoding="utf-8")
    return [text(heading) for heading in find(document, ".//h1|.//h2|.//h3|.//h4")]


def _article(folder: Path, entry: Entry, places: dict[str, str]) -> HtmlElement:
    page = (folder / f"{entry.name}.xhtml").read_text(encoding="utf-8").replace(f' xmlns="{XHTML}"', "")
    tree = etree.fromstring(page.encode(), lxml.html.XHTMLParser(huge_tree=True))
    here = places[entry.name]
    kinds = ["fx-cheat-sheet"] * (entry.name == _CHEAT_SHEET) + ["fx-looked-up"] * entry.name.startswith(_LOOKED_UP)
    article = E.article({"id": here, "class": " ".join(kinds)}, *find(tree, ".//div[@class='body']")[0])
    for table in find(article, f".//table[count((.//tr)[1]/*) >= {_WIDE_TABLE}]"):
        table.classes.add("fx-wide")
    for element in article.iterdescendants("{*}*"):
        for name, value in element.attrib.items():
            if name == "href":
                _lead(element, entry.name, places)
            elif name == _XLINK or "url(#" in value:
                element.set(name, value.replace("#", f"#{here}-"))
            elif name in ("id", "aria-labelledby", "aria-describedby", "for", "headers"):
                element.set(name, " ".join(f"{here}-{one}" for one in value.split()))
    return article


def _lead(link: HtmlElement, page: str, places: dict[str, str]) -> None:
    """Make a link to a page lead within the document; remove a link to any other file of the book."""
    path, _, anchor = link.get("href").partition("#")
    if _ELSEWHERE.match(path):
        return
    other = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)).removesuffix(".xhtml") if path else page
    if other in places:
        link.set("href", f"#{places[other]}-{anchor}" if anchor else f"#{places[other]}")
    else:
        del link.attrib["href"]


def _title(article: HtmlElement) -> str:
    return text(find(article, ".//h1")[0])


def _running_head(entry: Entry, place: str, title: str) -> str:
    """The style for the pages of an entry, with the part of the book and the title at the head."""
    left, right = (string.replace("\\", "\\\\").replace('"', '\\"') for string in (entry.part, title))
    return f'#{place}{{page:{place}}}@page {place}{{@top-left{{content:"{left}"}}@top-right{{content:"{right}"}}}}'


def _contents(places: dict[Entry, str], titles: list[str]) -> HtmlElement:
    contents = E.nav({"class": "fx-contents"}, E.h1("Contents"))
    part = ""
    for (entry, place), title in zip(places.items(), titles, strict=True):
        if entry.part != part:
            part = entry.part
            contents.append(E.p({"class": "fx-contents-part"}, part))
        contents.append(E.p({"class": f"fx-depth-{entry.depth}"}, E.a(title, href=f"#{place}")))
    return contents


def finish(path: Path, author: str, headings: list[str]) -> None:
    """Set the author, and restore the spaces that Chromium drops from the outline where a heading wraps."""
    whole = {"".join(heading.split()): heading for heading in headings}
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        pdf.docinfo["/Author"] = author
        with pdf.open_outline() as outline:
            waiting = list(outline.root)
            while waiting:
                item = waiting.pop()
                waiting += item.children
                item.title = whole.get("".join(item.title.split()), item.title)
        pdf.Root.PageMode = pikepdf.Name.UseOutlines
        pdf.Root.ViewerPreferences = pikepdf.Dictionary(DisplayDocTitle=True)
        pdf.save(path, object_stream_mode=pikepdf.ObjectStreamMode.generate)
