"""The Sphinx extension for both editions: Sphinx's own EPUB builder, with static pages."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from lxml import etree
from sphinx.application import Sphinx
from sphinx.builders.epub3 import Epub3Builder
from sphinx.util import logging

from extras.editions import pages
from extras.editions.toc import entries

_LOGGER = logging.getLogger(__name__)


class StillBuilder(Epub3Builder):
    name = "epub"

    def get_toc(self) -> None:
        """The pages in reading order; Sphinx mistakes a root page in a folder for the folder itself."""
        self.refnodes = [{"level": 1, "refuri": pages.TITLE_PAGE + self.out_suffix, "text": "Title page"}]
        for entry in entries(Path(self.srcdir) / "_toc.yml"):
            title, uri = self.env.titles[entry.name].astext(), entry.name + self.out_suffix
            self.refnodes.append({"level": entry.depth + 1, "refuri": html.escape(uri), "text": html.escape(title)})

    def handle_page(self, pagename: str, addctx: dict[str, Any], *rest: Any, **named: Any) -> None:
        if body := addctx.get("body"):
            try:
                addctx["body"] = pages.settled(body)
            except etree.XMLSyntaxError as error:
                _LOGGER.warning("%s: not well-formed, so an EPUB cannot contain it: %s", pagename, error)
        super().handle_page(pagename, addctx, *rest, **named)

    def build_content(self) -> None:
        """List the files, and mark the pages with a drawing, as EPUB requires."""
        super().build_content()
        listed = Path(self.outdir) / "content.opf"
        tree = etree.parse(listed)
        for item in tree.iter("{http://www.idpf.org/2007/opf}item"):
            page = Path(self.outdir) / item.get("href")
            if page.suffix == self.out_suffix and page.is_file() and "<svg" in page.read_text(encoding="utf-8"):
                item.set("properties", "svg")
        tree.write(listed, encoding="utf-8", xml_declaration=True)

    def toc_metadata(self, level: int, navpoints: list[Any]) -> dict[str, Any]:
        """The metadata of the EPUB 2 table of contents, with the book's own identifier."""
        return super().toc_metadata(level, navpoints) | {"uid": html.escape(self.config.epub_identifier)}


def _title_page(_: Sphinx) -> list[tuple[str, dict[str, Any], str]]:
    body = etree.tostring(pages.title_page(), encoding="unicode")
    return [(pages.TITLE_PAGE, {"title": "Title page", "body": body}, "page.html")]


def _without_folding_styles(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Remove the link to MyST-NB's own style for folds, which the EPUB does not include."""
    context["css_files"] = [style for style in context["css_files"] if "mystnb" not in str(style)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Replace Sphinx's own builder under its name, which decides which form of an output is shown."""
    app.add_builder(StillBuilder, override=True)
    app.connect("html-collect-pages", _title_page)
    app.connect("html-page-context", _without_folding_styles, priority=900)
    # The settings file also has settings of extensions that only the site loads; this extension is loaded last.
    known = set(app.config.values)
    for name in ("comments_config", *pages.config()["sphinx"]["config"]):
        if name not in known:
            app.add_config_value(name, None, "")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
