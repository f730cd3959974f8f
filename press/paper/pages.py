"""Let Sphinx make the pages of both editions of the committed notebooks, and the EPUB itself; nothing is executed."""

from __future__ import annotations

import datetime
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import yaml

from press import ROOT

BUILD = ROOT / "_build" / "paper"
NAME = "torch-fx-node-by-node"
STATIC = Path(__file__).parent / "static"
# A page that stands still needs none of what the site adds: its theme, its search, buttons to copy, a script for folds.
_EXTENSIONS = ["myst_nb", "jupyter_book", "sphinx_external_toc", "press.paper.builder"]
STYLES = [*sorted((ROOT / "fxbook" / "static").glob("*.css")), STATIC / "still.css"]
"""What both editions are styled with: the drawings' own style, and what is different where nothing moves."""
_READER = [*STYLES, STATIC / "reader.css"]
# Of the theme, and of the redirection that only a web server needs.
_UNREAD = ["_static/*.js", "_static/*.png", "_static/basic.css", "index.html"]


def make() -> Path:
    """Make the pages, and the EPUB beside them; return the folder that holds both.

    Raises:
        subprocess.CalledProcessError: Sphinx warned or failed; it has printed why.
    """
    shutil.rmtree(BUILD / "pages", ignore_errors=True)
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch()), "PYTHONHASHSEED": "0"}
    subprocess.run([sys.executable, "-m", "press.paper.pages"], cwd=ROOT, check=True, env=environment)
    return BUILD / "pages"


def epoch() -> int:
    """The moment that the editions are dated with, in seconds: of the last commit, so that two builds are the same.

    ``SOURCE_DATE_EPOCH`` names another moment; without it and without git it is that of the manuscript's newest file.
    """
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    told = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    if told.returncode == 0 and told.stdout.strip():
        return int(told.stdout)
    return int(max(path.stat().st_mtime for path in (ROOT / "book").rglob("*.md")))


def date() -> str:
    """The day of :func:`epoch`, as ``2026-11-22``."""
    return f"{datetime.datetime.fromtimestamp(epoch(), datetime.UTC):%Y-%m-%d}"


def config() -> dict[str, Any]:
    """The settings of the book, ``_config.yml``."""
    return yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))


def torch_version() -> str:
    """The version of torch that the outputs are proven with."""
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    found = re.search(r"^torch==(\S+)", pins, re.MULTILINE)
    assert found
    return found[1]


def _settings() -> dict[str, Any]:
    """What differs from the site's settings."""
    told = config()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "latex_individualpages": False,
        "extensions": _EXTENSIONS,
        "project": told["title"],
        "version": project["version"],
        "copyright": told.get("copyright") or f"{date()[:4]}, {told['author']}",
        "templates_path": [],
        "html_static_path": [str(path) for path in _READER],
        "html_css_files": [],
        "html_js_files": [],
        "html_theme_options": {},
        "html_favicon": "",
        "external_toc_path": str(ROOT / "_toc.yml"),
        "epub_basename": NAME,
        "epub_title": told["title"],
        "epub_description": project["description"],
        "epub_contributor": told["author"],
        "epub_identifier": f"urn:x-book:{NAME}",
        "epub_uid": "book",
        "epub_show_urls": "no",
        "epub_tocscope": "includehidden",
        "epub_css_files": [path.name for path in _READER],
        "epub_exclude_files": _UNREAD,
    }


def _build() -> int:
    """Run Sphinx in this process, every warning an error; what is unchanged is not read again."""
    from jupyter_book.sphinx import build_sphinx

    outcome = build_sphinx(
        str(ROOT),
        str(BUILD / "pages"),
        path_config=str(ROOT / "_config.yml"),
        noconfig=True,
        confoverrides=_settings(),
        doctreedir=str(BUILD / ".doctrees"),
        builder="epub",
        force_all=True,
        quiet=True,
        warningiserror=True,
        keep_going=True,
    )
    if isinstance(outcome, Exception):
        print(outcome, file=sys.stderr)
    return 1 if outcome else 0


if __name__ == "__main__":
    sys.exit(_build())
