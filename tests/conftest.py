"""Shared fixtures: a small project to generate notebooks in, the built book, and a browser."""

from __future__ import annotations

import importlib
import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from press import rooms
from press.binding import bind
from press.manuscript.reading import HEADER
from tests.browsing import CHROMIUM, FLAGS, THEMES, patient

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from fxbook import EditStepper, RunStepper
    from fxbook.drawing import Drawing
    from fxbook.plotting import Plot


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests in folders that belong to a room, and reject unknown rooms; see press/rooms.py."""
    for item in items:
        if (name := rooms.room_of(item.path)) and not item.get_closest_marker("room"):
            item.add_marker(pytest.mark.room(name=name))
        if (mark := item.get_closest_marker("room")) and mark.kwargs.get("name") not in rooms.ROOMS:
            raise pytest.UsageError(f"{item.nodeid}: {mark.kwargs} names no room of press/rooms.py")


def pytest_collection(session: pytest.Session) -> None:
    """Import the checker before any file uses fake tensors: else, in a CUDA build, no child could differentiate."""
    if not session.config.option.collectonly:
        importlib.import_module("fxbook.checking.verify")


@pytest.fixture(autouse=True)
def gradients_stay_on() -> Iterator[None]:
    """Turn gradients on again after cells that turn them off, as in chapter 08."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_grad_enabled(True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return empty_project(tmp_path)


def empty_project(root: Path) -> Path:
    """Make folders for chapters and for the index of exercises, and the pins."""
    for folder in ("book/chapters", "fxbook"):
        (root / folder).mkdir(parents=True)
    (root / "requirements.txt").write_text("torch==2.13.0\n", encoding="utf-8")
    return root


@pytest.fixture
def write(project: Path) -> Callable[[str, str], Path]:
    """Write a manuscript into the project, given its name under ``book/`` and the text below the header."""

    def writer(name: str, body: str, header: str = HEADER) -> Path:
        path = project / "book" / name
        path.write_text(header + "\n" + textwrap.dedent(body).strip() + "\n", encoding="utf-8")
        return path

    return writer


@pytest.fixture(scope="session")
def built_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built HTML; the first worker builds it, and others wait."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with FileLock(shared / "book.lock"):
        address = shared / "book.txt"
        if not address.is_file():
            address.write_text(str(bind.build().parent), encoding="utf-8")
        return Path(address.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of a file."""
    from playwright.sync_api import sync_playwright  # Most files need no browser.

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield patient(chromium)
        chromium.close()


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Open a page with outputs of cells; fail on a message in the console, and on a request for any other file."""
    pages: list[tuple[Page, list[str]]] = []

    def opener(
        *outputs: Drawing | EditStepper | Plot | RunStepper,
        theme: str = "light",
        width: int = 1280,
        script: bool = True,
    ) -> Page:
        body = "".join(output._repr_html_() for output in outputs)
        file = tmp_path / f"page{len(pages)}.html"
        file.write_text(
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Outputs</title></head>'
            f'<body style="margin:8px;{THEMES[theme]}"><main><h1>Outputs</h1>{body}</main></body></html>',
            encoding="utf-8",
        )
        context = browser.new_context(
            viewport={"width": width, "height": 800}, java_script_enabled=script, reduced_motion="reduce"
        )
        page = context.new_page()
        troubles: list[str] = []
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: request.url == file.as_uri() or troubles.append(request.url))
        page.goto(file.as_uri())
        pages.append((page, troubles))
        return page

    yield opener
    for page, troubles in pages:
        assert troubles == []
        page.context.close()
