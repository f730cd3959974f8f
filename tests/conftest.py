"""What several tests need: a small project to print, and the book, built once for all workers."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from press import bind
from press.manuscript import HEADER


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project: the folders of the manuscript, a place for the index of exercises, and one check."""
    for folder in ("book/chapters", "book/exercises", "fxbook/checks"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "fxbook/checks/chapter_01.py").write_text('EXERCISES = (Exercise(id="01-write-relu"),)\n')
    return tmp_path


@pytest.fixture
def write(project: Path) -> Callable[[str, str], Path]:
    """Write a manuscript into the project: its name under ``book/`` and the text below the header."""

    def writer(name: str, body: str, header: str = HEADER) -> Path:
        path = project / "book" / name
        path.write_text(header + "\n" + textwrap.dedent(body).strip() + "\n", encoding="utf-8")
        return path

    return writer


@pytest.fixture(scope="session")
def built_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built HTML; the first worker that asks builds it, the others wait."""
    with FileLock(tmp_path_factory.getbasetemp().parent / "book.lock"):
        return bind.build().parent
