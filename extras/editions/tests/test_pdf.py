"""The PDF has contents and an outline, links between the book's pages, and nothing that is wider than the paper."""

from __future__ import annotations

import re
from pathlib import Path

import pikepdf
import pypdfium2
import pytest

from extras.editions import pages
from extras.editions.markup import XHTML
from extras.editions.pdf import chromium, finish, print_pdf, write
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
NAME = "torch.fx.experimental.symbolic_shapes." + "guard_or_false_" * 6
CELLS = "".join(f"<td><p>what for: <code>{name}</code></p></td>" for name in (NAME, "a" * 99))
TITLE = "A title that goes on below, " * 6
PAGES = {
    "chapters/intro": (
        '<section id="book"><h1>A book</h1>'
        '<p>Begin with <a href="00_first.xhtml#a-claim">a claim</a>.<br/></p></section>'
    ),
    "chapters/00_first": (
        '<section id="first"><h1>00 · First</h1><section id="a-claim"><h2>A claim</h2>'
        + "<p>A line of it.</p>" * 80
        + '<p><a href="../exercises/00_first.xhtml">Exercises</a> and <a href="../file.zip">a file</a>, '
        '<a href="https://pytorch.org/">elsewhere</a>, <a href="#a-claim">above</a></p></section></section>'
    ),
    "exercises/00_first": (
        f'<section id="first"><h1>00 · Exercises</h1><h2>{TITLE}</h2><p>{NAME}</p><table><tr>{CELLS}</tr></table>'
        f'<div class="highlight"><pre>{NAME} = {NAME}</pre></div><div style="width: 900px">wide</div></section>'
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of a small book."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "_toc.yml").write_text(TOC, encoding="utf-8")
    (folder / "_static").mkdir()
    (folder / "_static" / "pygments.css").write_text(".n { color: #111 }", encoding="utf-8")
    for name, body in PAGES.items():
        page = folder / f"{name}.xhtml"
        page.parent.mkdir(exist_ok=True)
        inside = f'<div class="body">{pages.settled(body)}</div>'
        page.write_text(f'<html xmlns="{XHTML}"><body>{inside}</body></html>', encoding="utf-8")
    return folder


def test_links_lead_inside_and_ids_are_unique(folder: Path, tmp_path: Path) -> None:
    headings = write(folder, tmp_path / "book.html", folder / "_toc.yml")
    assert headings == ["Contents", "A book", "00 · First", "A claim", "00 · Exercises", TITLE.strip()]
    html = (tmp_path / "book.html").read_text(encoding="utf-8")
    ids, links = re.findall(r'\bid="([^"]+)"', html), re.findall(r'<a [^>]*?href="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert [link for link in links if link[0] != "#"] == ["https://pytorch.org/"]
    assert {link[1:] for link in links if link[0] == "#"} <= set(ids) and len(links) == 7
    # A browser treats `</br>` as another `<br>`.
    assert "file.zip" not in html and "</br>" not in html


@needs_chromium
def test_pdf_has_full_size_contents_and_outline(folder: Path, tmp_path: Path) -> None:
    document, target = tmp_path / "book.html", tmp_path / "book.pdf"
    headings = write(folder, document, folder / "_toc.yml")
    print_pdf(document, target)
    finish(target, "its authors", headings)
    with pikepdf.open(target) as pdf, pdf.open_outline() as outline:
        assert [item.title for item in outline.root] == ["Contents", "A book", "00 · First", "00 · Exercises"]
        assert [item.title for item in outline.root[-1].children] == [TITLE.strip()]
        assert sum(len(page.get("/Annots", ())) for page in pdf.pages) >= 7
        assert str(pdf.docinfo["/Author"]) == "its authors"
    with pypdfium2.PdfDocument(target) as pdf:
        # Spaces in a PDF are not characters but gaps, and readers of a PDF have to guess them.
        words = ["".join(page.get_textpage().get_text_bounded().split()) for page in pdf]
        assert words[1].endswith("ContentsAbookChapters00·First00·Exercises")
        assert words[3].startswith("Chapters00·First4")
        # If something is wider than the paper, Chromium silently prints everything smaller.
        line = pdf[3].get_textpage().search("line of it.")
        (first, _), (second, _) = line.get_next(), line.get_next()
        tops = [line.textpage.get_charbox(at)[3] for at in (first, second)]
        assert tops[0] - tops[1] == pytest.approx(9 * (1.38 + 0.65), abs=0.5)


def test_missing_browser_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(pages.EditionError, match="apt install chromium"):
        chromium()
