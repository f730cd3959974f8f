"""Add a description to each page, a 404 page, and, once there is an address, cards and a sitemap.

A local Sphinx extension, named in `_config.yml`. The address is Sphinx's `html_baseurl`. Cards and the sitemap need
absolute addresses, so there are none while it is empty. The 404 page then assumes that the book is at the root of its
host.
"""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.application import Sphinx

CARD, CARD_SIZE = "_static/card.png", (1200, 630)
NOT_FOUND, MAP, ROBOTS = "404", "sitemap.xml", "robots.txt"
# In characters: search engines show about 160, and a first sentence below the lower limit is joined with the next.
_LONGEST, _SHORTEST = 160, 50
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^a-z])")
# The descriptions of these pages start with the title, since their texts begin alike.
_TITLED = ("exercises/", "solutions/", "chapters/when_it_breaks/")


def description(page: str, tree: nodes.document, given: str | None = None) -> str:
    """Describe a page in one or two sentences: its front matter, or the beginning of its text."""
    text = given or _opening(tree)
    if page.startswith(_TITLED) and not given:
        title = next(iter(tree.findall(nodes.title)), None)
        text = f"{title.astext()}. {text}" if title is not None else text
    if len(text) <= _LONGEST:
        return text
    return text[: _LONGEST - 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def _opening(tree: nodes.document) -> str:
    first = next((one for one in tree.findall(nodes.paragraph) if isinstance(one.parent, nodes.section)), None)
    sentences = _SENTENCE.split(" ".join(first.astext().split())) if first is not None else []
    text = ""
    for sentence in sentences:
        if len(text) >= _SHORTEST:
            break
        text = f"{text} {sentence}".strip()
    return text


def _meta(name: str, content: str, kind: str = "name") -> str:
    return f'\n    <meta {kind}="{name}" content="{html.escape(content)}">'


def address_of(app: Sphinx) -> str:
    """The book's address with a trailing slash, or ``""``."""
    base = app.config.html_baseurl
    return f"{base.rstrip('/')}/" if base else ""


def _describe(app: Sphinx, page: str, _template: str, context: dict[str, Any], tree: nodes.document | None) -> None:
    base, tags = address_of(app), ""
    if page == NOT_FOUND:
        context["metatags"] = _meta("robots", "noindex")
        # A host shows this page at any depth, so its links begin at the root of the book.
        root, below = urlsplit(base).path or "/", context["pathto"]
        context["content_root"] = root

        def pathto(*arguments: Any, **options: Any) -> str:
            found = below(*arguments, **options)
            return found if found.startswith("#") else root + found.removeprefix("./")

        context["pathto"] = pathto
        return
    if tree is None:
        return
    text = description(page, tree, (context.get("meta") or {}).get("description"))
    tags += _meta("description", text) if text else ""
    if base:
        width, height = CARD_SIZE
        cards = {
            "og:type": "article",
            "og:site_name": app.config.html_title,
            "og:title": re.sub(r"<[^>]+>", "", html.unescape(context["title"])),
            "og:description": text,
            "og:url": base + app.builder.get_target_uri(page),
            "og:image": base + CARD,
            "og:image:width": str(width),
            "og:image:height": str(height),
            "og:image:alt": app.config.html_title,
        }
        tags += "".join(_meta(name, content, "property") for name, content in cards.items() if content)
        tags += _meta("twitter:card", "summary_large_image")
    context["metatags"] = context.get("metatags", "") + tags


def _not_found(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    if app.builder.name == "html":
        yield NOT_FOUND, {"title": "There is no such page"}, "404.html"


def _map(app: Sphinx, failure: Exception | None) -> None:
    base = address_of(app)
    if failure or not base or app.builder.format != "html":
        return
    root = ET.Element("urlset", xmlns="http://www.sitemaps.org/schemas/sitemap/0.9")
    for page in sorted(app.env.all_docs):
        ET.SubElement(ET.SubElement(root, "url"), "loc").text = base + app.builder.get_target_uri(page)
    out = Path(app.outdir)
    ET.ElementTree(root).write(out / MAP, encoding="utf-8", xml_declaration=True)
    # Crawlers read this file only at the root of a host; elsewhere, it does no harm.
    (out / ROBOTS).write_text(f"User-agent: *\nAllow: /\nSitemap: {base}{MAP}\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", _describe)
    app.connect("html-collect-pages", _not_found)
    app.connect("build-finished", _map)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
