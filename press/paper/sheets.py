"""All pages as one HTML document to print: a title page, the contents with page numbers, and every page of the book."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lxml import etree

from press.paper import markup, pages
from press.paper.contents import Leaf, leaves
from press.paper.folds import KINDS
from press.paper.front import title_page
from press.paper.markup import E, find, headings, text

_ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:", re.IGNORECASE)
# What names an id of the same page: links, the names of pictures, clips and markers of a plot.
_NAMES = ("aria-labelledby", "aria-describedby", "for", "headers")
_UNKNOWN = "000"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_CHAPTERS, _REFERENCE = "Chapters", "Reference"
_SHEETS = ("exercises/", "solutions/")
# What one looks things up in is set in smaller type.
_COMPANIONS = "chapters/when_it_breaks/"
# A table of so many columns goes across both; the cheat sheet is two sides of A4 here, too, which asks for all of them.
_WIDE_TABLE = 5
_CHEAT_SHEET = "chapters/reference/cheat_sheet"
_MARGINS = {_CHEAT_SHEET: "margin: 12mm 9mm 10mm;"}
# Sections that each chapter has: the contents name only what is its own.
_IN_EVERY_CHAPTER = {
    *("when-it-breaks", "what-people-get-wrong", "check-yourself", "in-one-page", "exercises"),
    *(kind.anchor for kind in KINDS),
}


def write(
    folder: Path,
    target: Path,
    toc: Path = pages.ROOT / "_toc.yml",
    numbers: Mapping[str, int] | None = None,
    only: str = "",
) -> Path:
    """Write the document.

    Args:
        folder: the pages, as :func:`press.paper.pages.make` leaves them.
        target: the file to write.
        toc: the table of contents of the site.
        numbers: by id, the page that a place is printed on, as :func:`press.paper.chromium.places` finds it; before
            the first print nobody knows it, and something of the same width stands there.
        only: the one page of the book to write behind the contents, in place of all.
    """
    told = leaves(toc)
    places = {leaf.name: f"leaf-{number}" for number, leaf in enumerate(told)}
    bodies = {leaf: _body(folder / f"{leaf.name}.xhtml") for leaf in told}
    for leaf, body in bodies.items():
        _renamed(body, leaf.name, places)
    styles = [path.read_text(encoding="utf-8") for path in (*pages.STYLES, pages.STATIC / "print.css")]
    styles.insert(0, (folder / "_static" / "pygments.css").read_text(encoding="utf-8"))
    styles += [_running_head(places[leaf.name], leaf, body) for leaf, body in bodies.items()]
    whole = E.html(
        {"lang": "en"},
        E.head(E.meta({"charset": "utf-8"}), E.title(pages.config()["title"]), E.style("\n".join(styles))),
        E.body(title_page(), _contents(bodies, places), *_articles(bodies, places, only)),
    )
    _number(whole, numbers or {})
    target.write_text("<!DOCTYPE html>\n" + markup.as_html(whole), encoding="utf-8")
    return target


def titles(folder: Path, toc: Path = pages.ROOT / "_toc.yml") -> Iterator[str]:
    """The words of every heading; takes a folder as :func:`write`."""
    for leaf in leaves(toc):
        for _, heading in headings(_body(folder / f"{leaf.name}.xhtml")):
            yield text(heading)


def _body(path: Path) -> etree._Element:
    whole = etree.fromstring(path.read_bytes().replace(b"<!DOCTYPE html>", b""), etree.XMLParser(huge_tree=True))
    [body] = find(whole, ".//h:div[@class='body']")
    body.tail = None
    return body


def _renamed(body: etree._Element, name: str, places: dict[str, str]) -> None:
    """Make ids that no other page has, and links that lead to them."""
    here = places[name]
    for element in body.iter(etree.Element):
        if identity := element.get("id"):
            element.set("id", f"{here}-{identity}")
        for attribute in _NAMES:
            if named := element.get(attribute):
                element.set(attribute, " ".join(f"{here}-{one}" for one in named.split()))
        for attribute, value in element.attrib.items():
            if "url(#" in value:
                element.set(attribute, value.replace("url(#", f"url(#{here}-"))
        if target := element.get(_XLINK):
            element.set(_XLINK, target.replace("#", f"#{here}-", 1))
        if target := element.get("href"):
            _lead(element, target, name, places)


def _lead(element: etree._Element, target: str, name: str, places: dict[str, str]) -> None:
    path, _, anchor = target.partition("#")
    if _ELSEWHERE.match(target):
        return
    other = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else f"{name}.xhtml"
    place = places.get(other.removesuffix(".xhtml"))
    if place is None:  # a file beside the book, which paper cannot lead to
        del element.attrib["href"]
        return
    element.set("href", f"#{place}-{anchor}" if anchor else f"#{place}")
    if path and element.tag == f"{{{markup.XHTML}}}a":
        element.set("class", " ".join([*markup.classes(element), "fx-page"]))


def _number(whole: etree._Element, numbers: Mapping[str, int]) -> None:
    """Write to each link that leads elsewhere, and to each line of the contents, the page where that is."""
    for link in markup.of_class(whole, "fx-page", "h:a"):
        number = E.span({"class": "fx-number"}, str(numbers.get(link.get("href", "")[1:], _UNKNOWN)))
        around = ["", ""] if "fx-contents-line" in markup.classes(link) else [" (p.\N{NO-BREAK SPACE}", ")"]
        link.append(E.span({"class": "fx-where"}, around[0], number, around[1]))


def _title(body: etree._Element) -> str:
    return next(text(heading) for level, heading in headings(body) if level == 1)


def _running_head(place: str, leaf: Leaf, body: etree._Element) -> str:
    """The style of the pages of one leaf: at their head the part of the book and the title."""
    left, right = (string.replace("\\", "\\\\").replace('"', '\\"') for string in (leaf.part, _title(body)))
    heads = f'@top-left{{content:"{left}"}}@top-right{{content:"{right}"}}'
    return f"#{place}{{page:{place}}}@page {place}{{{_MARGINS.get(leaf.name, '')}{heads}}}"


def _contents(bodies: dict[Leaf, etree._Element], places: dict[str, str]) -> etree._Element:
    """The contents, a line for each page of the site and for each section of a chapter."""
    contents = E.nav({"class": "fx-contents"}, E.h1("Contents"))
    part = ""
    for leaf, body in bodies.items():
        if leaf.part != part:
            part = leaf.part
            contents.append(E.p({"class": "fx-contents-part"}, part))
        contents.append(_line(_title(body), places[leaf.name], leaf.depth))
        if leaf.part == _CHAPTERS and leaf.depth == 0:
            for section in find(body, "./h:section/h:section[@id][h:h2]"):
                if section.get("id").removeprefix(f"{places[leaf.name]}-") in _IN_EVERY_CHAPTER:
                    continue
                contents.append(_line(text(find(section, "./h:h2")[0]), section.get("id"), 1))
    return contents


def _line(title: str, place: str, depth: int) -> etree._Element:
    return E.a({"href": f"#{place}", "class": f"fx-contents-line fx-page fx-depth-{depth}"}, E.span(title))


def _articles(bodies: dict[Leaf, etree._Element], places: dict[str, str], only: str) -> list[etree._Element]:
    articles = []
    for leaf, body in bodies.items():
        if only not in ("", leaf.name):
            continue
        article = E.article({"id": places[leaf.name], "class": " ".join(_kinds(leaf))})
        article.extend(list(body))
        for table in find(article, f".//h:table[count((.//h:tr)[1]/*) >= {_WIDE_TABLE}]"):
            table.set("class", " ".join([*markup.classes(table), "fx-wide"]))
        _keep_headings(article)
        articles.append(article)
    return articles


def _keep_headings(article: etree._Element) -> None:
    """Put a heading and the paragraph below it into one element: Chromium may end a column between them otherwise."""
    for heading in find(article, ".//h:h2|.//h:h3|.//h:h4"):
        kept, following = [heading], heading.getnext()
        while following is not None and following.tag == f"{{{markup.XHTML}}}p":
            kept.append(following)
            if text(following):
                around = E.div({"class": "fx-kept"})
                heading.addprevious(around)
                around.extend(kept)
                break
            following = following.getnext()  # A paragraph without words is a place for links.


def _kinds(leaf: Leaf) -> list[str]:
    """Classes of a page for ``print.css``: its own, and how it is set."""
    name = posixpath.basename(leaf.name)
    looked_up = leaf.part == _REFERENCE or leaf.name.startswith((*_SHEETS, _COMPANIONS))
    return [f"fx-leaf-{name}", *["fx-looked-up"] * looked_up]
