"""A finished edition has one date throughout, and an EPUB says first what it is."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pikepdf
import pytest

from press.paper.chromium import PrintError, chromium, date_pdf
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
        date_pdf(path, "A title", "its authors", EPOCH)
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
