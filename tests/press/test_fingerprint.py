"""A build is skipped only if no source, template, package or built file has changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from press.binding import bind, fingerprint


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small project that has been built."""
    for name in ("_config.yml", "book/intro.md", "book/_ext/own.py", "chapters/a.ipynb", "built/index.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        (lambda root: (root / "chapters/a.ipynb").write_text("other"), {"sources"}),
        (lambda root: (root / "chapters/b.ipynb").write_text(""), {"sources"}),
        (lambda root: (root / "book/intro.md").rename(root / "book/other.md"), {"sources"}),
        (lambda root: (root / "book/_ext/own.py").write_text("other"), {"sources", "machinery"}),
    ],
    ids=["changed", "new", "renamed", "extension"],
)
def test_a_change_is_seen(root: Path, change: Callable[[Path], object], differs: set[str]) -> None:
    before = fingerprint.of_sources(root)
    change(root)
    after = fingerprint.of_sources(root)
    assert {kind for kind in before if before[kind] != after[kind]} == differs


def test_up_to_date_book_starts_no_sphinx(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = root / bind.HTML / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text("built")
    fingerprint.keep(root / bind.KEPT, fingerprint.of_sources(), page.parent)
    monkeypatch.setattr(bind, "prepare", lambda *_: pytest.fail("Sphinx was started"))
    assert bind.build(root) == page
    page.write_text("built otherwise")
    with pytest.raises(pytest.fail.Exception, match="Sphinx was started"):
        bind.build(root)
