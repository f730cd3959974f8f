"""Make the EPUB with Sphinx's own builder and static pages; the PDF is printed from the same pages."""

from __future__ import annotations

import html
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import yaml
from lxml.html import HtmlElement
from lxml.html.builder import E

from extras.editions import markup
from extras.editions.folds import open_folds
from extras.editions.static_steppers import freeze
from press import ROOT, imprint
from press.binding.inventory import to_pinned_docs

BUILD = ROOT / "_build" / "editions-pages"
NAME = "torch-fx-node-by-node"
TITLE_PAGE = "title-page"
STATIC = Path(__file__).parent / "static"
STYLES = [*sorted((ROOT / "fxbook" / "static").glob("*.css")), STATIC / "still.css"]
"""The styles of both editions: that of the drawings, and the changes for static pages."""
_READER = [*STYLES, STATIC / "reader.css"]
COLUMNS, TOGETHER, PIECE = 56, 12, 20
"""Characters of a line of code in the narrowest column, lines of a block that stay on one page, and unbroken characters
of a name in a table.
"""
_CODE = re.compile(r'(<div class="highlight">)<pre>(.*?)</pre>', re.DOTALL)
_TOKEN = re.compile(r'<span class="(\w+)">([^<]*)</span>')
# The kinds of token without a colour: names, punctuation and spaces. They get no elements, since Chromium describes
# every element in the PDF, and hung when it had these as well.
_UNCOLOURED = {"n", "p", "w"}
# Where a name may be broken: before a dot, or after a character that opens, joins or separates.
_JOINT = re.compile(r"(?<=[\w)\]])(?=\.[a-zA-Z_])|(?<=[a-zA-Z0-9]_)(?=[a-zA-Z])|(?<=[(\[=,|/])(?=[^\s)\]])")


class EditionError(RuntimeError):
    """An edition cannot be made; the message says what to do."""


def make() -> Path:
    """Make the pages and the EPUB; return their folder. Raises EditionError if Sphinx warned or failed."""
    from jupyter_book.sphinx import build_sphinx

    shutil.rmtree(BUILD / "pages", ignore_errors=True)
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
    if outcome:
        raise EditionError(f"Sphinx did not make the pages; fix the warnings above. {outcome}")
    return BUILD / "pages"


def config() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))


def _settings() -> dict[str, Any]:
    book = imprint.read(ROOT)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "latex_individualpages": False,
        # A static page needs no theme, no search and no copy buttons.
        "extensions": ["myst_nb", "jupyter_book", "sphinx_external_toc", "former_anchors", "extras.editions.epub"],
        "project": book.title,
        "version": book.version,
        "copyright": book.authors,
        "templates_path": [],
        "html_static_path": [str(path) for path in _READER],
        "html_css_files": [],
        "html_js_files": [],
        "html_theme_options": {},
        "html_favicon": "",
        "external_toc_path": str(ROOT / "_toc.yml"),
        "epub_basename": NAME,
        "epub_title": book.title,
        "epub_description": project["description"],
        "epub_contributor": book.authors,
        "epub_identifier": f"urn:x-book:{NAME}",
        "epub_uid": "book",
        "epub_show_urls": "no",
        "epub_tocscope": "includehidden",
        "epub_css_files": [path.name for path in _READER],
        # Files for the theme, and for a redirection that only the site needs.
        "epub_exclude_files": ["_static/*.js", "_static/*.png", "_static/basic.css", "index.html"],
    }


def title_page() -> HtmlElement:
    """The title page: title, authors, version and its day, and the torch version that the outputs are proven with."""
    book = imprint.read(ROOT)
    [torch] = re.findall(r"^torch==(\S+)", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    proof = f"Every output in this book was printed by torch {torch}, and a test compares it with what the cell prints"
    return E.section(
        {"class": "fx-title-page"},
        E.p({"class": "fx-book-title"}, book.title),
        E.p({"class": "fx-book-author"}, f"By {book.authors}"),
        E.p({"class": "fx-book-proof"}, f"{proof} (timings excepted)."),
        E.p({"class": "fx-book-proof"}, book.byline.strip("*")),
    )


def settled(body: str) -> str:
    """The body of a page without anything that moves, folds or loads; raises XMLSyntaxError if it is malformed."""
    page = markup.read(_CODE.sub(lambda code: code[1] + _code(code[2]), to_pinned_docs(body)))
    for part in page.find_class("fx-screen-only"):
        part.drop_tree()
    freeze(page)
    open_folds(page)
    for code in markup.find(page, ".//table//code"):
        _break_names(code)
    for element in page.iter("{*}*"):
        for name in [name for name in element.attrib if name.startswith(("data-", "on"))]:
            del element.attrib[name]
        if element.get("href") == "#":
            del element.attrib["href"]
    return markup.written(page)


def _code(code: str) -> str:
    """The HTML of a code block; if a line is wider than the page, each line becomes an element."""

    def token(match: re.Match[str]) -> str:
        name, words = match.groups()
        return (
            words if name in _UNCOLOURED else "\n".join(f'<span class="{name}">{w}</span>' for w in words.split("\n"))
        )

    code = _TOKEN.sub(token, code)
    lines = code.rstrip("\n").split("\n")
    widths = [len(html.unescape(re.sub(r"<[^>]*>", "", line))) for line in lines]
    if max(widths) > COLUMNS:
        marks = ["fx-line fx-long" if width > COLUMNS else "fx-line" for width in widths]
        code = "".join(f'<span class="{mark}">{line}\n</span>' for mark, line in zip(marks, lines, strict=True))
    return f'<pre class="{"fx-together" if len(lines) <= TOGETHER else "fx-divided"}">{code}</pre>'


def _break_names(code: HtmlElement) -> None:
    """Mark where code in a table may break, since its columns would otherwise be as wide as the longest name."""
    for element in code.iter():
        first, *others = _JOINT.split(element.text or "")
        element.text = first
        for at, other in enumerate(others):
            joint = E.wbr()
            joint.tail = other
            element.insert(at, joint)
    if max(map(len, re.split(r"[\s\0]", "\0".join(code.itertext())))) > PIECE:
        code.classes.add("fx-anywhere")
