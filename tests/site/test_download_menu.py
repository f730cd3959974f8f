"""A page's download menu offers the existing editions and no others."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tests.loading import load


@pytest.fixture(scope="module")
def extension() -> ModuleType:
    return load("book/_ext/editions.py")


def offered(extension: ModuleType, source: Path) -> list[tuple[str, str]]:
    """The texts and addresses that a page offers in addition to the theme's."""
    config = SimpleNamespace()
    app = SimpleNamespace(srcdir=source, config=config)
    extension._note(app, config)
    menu = {"label": "download-buttons", "buttons": []}
    context = {"header_buttons": [{"label": "other", "buttons": []}, menu], "pathto": lambda name, _: f"../{name}"}
    extension._offer(app, "chapters/a", "page.html", context, None)
    assert context["header_buttons"][0]["buttons"] == []
    return [(button["text"], button["url"]) for button in menu["buttons"]]


def test_missing_editions_are_not_offered(tmp_path: Path, extension: ModuleType) -> None:
    assert offered(extension, tmp_path) == []


def test_existing_editions_are_offered_and_copied(tmp_path: Path, extension: ModuleType) -> None:
    made, site = tmp_path / "_build" / "editions", tmp_path / "site"
    for folder in (made, site):
        folder.mkdir(parents=True)
    (made / "book.epub").write_text("epub")
    (made / "book.pdf").write_text("pdf")
    assert offered(extension, tmp_path) == [
        ("Whole book, .pdf", "../book.pdf"),
        ("Whole book, .epub", "../book.epub"),
    ]
    app = SimpleNamespace(srcdir=tmp_path, outdir=site, builder=SimpleNamespace(format="html"))
    extension._take_along(app, None)
    assert (site / "book.pdf").read_text() == "pdf" and (site / "book.epub").read_text() == "epub"
    (made / "book.pdf").unlink()
    extension._take_along(app, None)
    assert [path.name for path in site.iterdir()] == ["book.epub"]
