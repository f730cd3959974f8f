"""A finished edition has one date throughout, and an EPUB says first what it is."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pikepdf
import pytest

from press.paper.chromium import PrintError, a_font_has, chromium, finish_pdf
from press.paper.editions import repack
from press.paper.pages import epoch

EPOCH = 1_700_000_000


def packed(path: Path, moment: tuple[int, ...], names: list[str]) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(zipfile.ZipInfo("mimetype", moment), "application/epub+zip")
        for name in names:
            made.writestr(zipfile.ZipInfo(name, moment), name * 50)
    return path


def test_the_same_pages_give_the_same_epub(tmp_path: Path) -> None:
    one = packed(tmp_path / "one", (2020, 1, 1, 0, 0, 0), ["b.xhtml", "a.xhtml"])
    other = packed(tmp_path / "other", (2024, 5, 6, 7, 8, 10), ["a.xhtml", "b.xhtml"])
    assert one.read_bytes() != other.read_bytes()
    results = []
    for source in (one, other):
        repack(source, tmp_path / "result", EPOCH)
        results.append((tmp_path / "result").read_bytes())
    assert results[0] == results[1]
    with zipfile.ZipFile(tmp_path / "result") as made:
        first, *rest = made.infolist()
        assert first.filename == "mimetype" and first.compress_type == zipfile.ZIP_STORED
        assert [entry.filename for entry in rest] == ["a.xhtml", "b.xhtml"]
        assert made.read("a.xhtml") == b"a.xhtml" * 50


def test_the_same_sheets_give_the_same_pdf(tmp_path: Path) -> None:
    results = []
    for moment in ("D:20200101000000Z", "D:20240506070809Z"):
        path = tmp_path / "book.pdf"
        with pikepdf.new() as pdf:
            pdf.add_blank_page()
            pdf.docinfo["/CreationDate"] = moment
            pdf.save(path)
        finish_pdf(path, "A title", "its authors", EPOCH)
        results.append(path.read_bytes())
    assert results[0] == results[1]
    with pikepdf.open(tmp_path / "book.pdf") as pdf:
        assert str(pdf.docinfo["/Title"]) == "A title"
        assert str(pdf.docinfo["/CreationDate"]) == "D:20231114221320+00'00'"


def test_the_moment_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(EPOCH))
    assert epoch() == EPOCH


def test_without_a_browser_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(PrintError, match="apt install chromium"):
        chromium()


@pytest.mark.skipif(shutil.which("fc-list") is None, reason="no fontconfig here: nobody can tell which fonts there are")
def test_it_is_told_when_no_font_has_a_sign() -> None:
    assert a_font_has("abc") and a_font_has("")
    assert not a_font_has("abc\U0010fffd"), "a sign for private use, which no font of everyday has"


def test_an_entry_of_the_outline_has_its_spaces(tmp_path: Path) -> None:
    path = tmp_path / "book.pdf"
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        with pdf.open_outline() as outline:
            outline.root.append(pikepdf.OutlineItem("leave nothingbehind", 0))
            outline.root[0].children.append(pikepdf.OutlineItem("a title of its own", 0))
        pdf.save(path)
    finish_pdf(path, "A title", "its authors", EPOCH, ["leave nothing behind"])
    with pikepdf.open(path) as pdf, pdf.open_outline() as outline:
        [entry] = outline.root
        assert [entry.title, entry.children[0].title] == ["leave nothing behind", "a title of its own"]
