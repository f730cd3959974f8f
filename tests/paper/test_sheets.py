"""The sheets to print: a title page, contents with page numbers, links between pages of the book as links inside."""

from __future__ import annotations

import re
from pathlib import Path

import pikepdf
import pypdfium2
import pytest

from press.paper import markup
from press.paper.builder import settled
from press.paper.chromium import places, print_pdf
from press.paper.sheets import write
from tests.browsing import needs_chromium

TOC = """
root: chapters/intro
parts:
  - caption: Chapters
    chapters:
      - file: chapters/00_first
        sections:
          - file: exercises/00_first
"""
PAGES = {
    "chapters/intro": (
        '<section id="book"><h1>A book</h1>'
        '<p>Begin with <a href="00_first.xhtml#a-claim">a claim</a>.<br/></p></section>'
    ),
    "chapters/00_first": (
        '<section id="first"><h1>00 · First</h1><section id="a-claim"><h2>A claim</h2><p><a id="before"></a></p>'
        + "<p>A line of it.</p>" * 80
        + '<p><a href="../exercises/00_first.xhtml">Exercises</a> and <a href="../file.zip">a file</a>, '
        '<a href="https://pytorch.org/">elsewhere</a>, <a href="#a-claim">above</a></p></section></section>'
    ),
    "exercises/00_first": '<section id="first"><h1>00 · Exercises</h1><p>None.</p></section>',
}  # fmt: skip


@pytest.fixture(scope="module")
def sheets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The document of a small book."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "_toc.yml").write_text(TOC, encoding="utf-8")
    (folder / "_static").mkdir()
    (folder / "_static" / "pygments.css").write_text(".n { color: #111 }", encoding="utf-8")
    for name, body in PAGES.items():
        page = folder / f"{name}.xhtml"
        page.parent.mkdir(exist_ok=True)
        inside = f'<div class="body">{settled(body)}</div>'
        page.write_text(f'<html xmlns="{markup.XHTML}"><body>{inside}</body></html>', encoding="utf-8")
    return write(folder, folder / "sheets.html", folder / "_toc.yml")


def test_links_lead_inside_and_ids_are_unique(sheets: Path) -> None:
    html = sheets.read_text(encoding="utf-8")
    ids = re.findall(r'\bid="([^"]+)"', html)
    links = re.findall(r'<a [^>]*href="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert [link for link in links if link[0] != "#"] == ["https://pytorch.org/"]
    assert {link[1:] for link in links if link[0] == "#"} <= set(ids)
    assert "file.zip" not in html


def test_a_line_ends_once(sheets: Path) -> None:
    # A browser takes `</br>` for another `<br>`.
    assert re.findall(r"</?br[ />]*>", sheets.read_text(encoding="utf-8")) == ["<br>"]


def test_a_heading_stays_with_its_paragraph(sheets: Path) -> None:
    [kept] = re.findall(r'<div class="fx-kept"><h2>(.*?)</div>', sheets.read_text(encoding="utf-8"))
    assert re.sub(r"<[^>]*>", "|", kept) == "A claim||||||A line of it.|"


@needs_chromium
def test_the_contents_have_the_numbers_of_the_pages(sheets: Path, tmp_path: Path) -> None:
    target = tmp_path / "book.pdf"
    print_pdf(sheets, target)
    before = places(target)
    folder = sheets.parent
    print_pdf(write(folder, tmp_path / "sheets.html", folder / "_toc.yml", before), target)
    assert places(target) == before
    with pypdfium2.PdfDocument(target) as pdf:
        # Spaces are not characters of a PDF but gaps, which a reader of it has to guess.
        said = ["".join(page.get_textpage().get_text_bounded().split()) for page in pdf]
    starts = {
        title: next(at for at, words in enumerate(said, 1) if f"{title}{more}" in words)
        for title, more in (("Abook", "Beginwith"), ("00·First", "Aclaim"), ("00·Exercises", "None."))
    }
    assert starts["00·Exercises"] > starts["00·First"] + 1, "the chapter has more than one page"
    assert said[1].endswith(
        f"ContentsAbook{starts['Abook']}Chapters00·First{starts['00·First']}Aclaim{starts['00·First']}"
        f"00·Exercises{starts['00·Exercises']}"
    )
    assert f"aclaim(p.{starts['00·First']})" in said[starts["Abook"] - 1]
    # A running head and its own number on each page.
    first = range(starts["00·First"], starts["00·Exercises"])
    assert all(said[at - 1].startswith(f"Chapters00·First{at}") for at in first)
    with pikepdf.open(target) as pdf, pdf.open_outline() as outline:
        assert [item.title for item in outline.root][-3:] == ["A book", "00 · First", "00 · Exercises"]
