"""How the book is found: a description for each page, and once it has an address, cards, a map and a 404 page.

A local Sphinx extension, named in `_config.yml`. The address is Sphinx's `html_baseurl`. Cards, map and 404 page need
whole addresses, so while it is empty there is none of them.
"""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

CARD, CARD_SIZE = "_static/card.png", (1200, 630)
NOT_FOUND, MAP, ROBOTS = "404", "sitemap.xml", "robots.txt"
# Search engines show about so many signs; a first sentence that says less is told with the next.
_LONGEST, _SHORTEST = 160, 50
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^a-z])")
# Pages that begin alike are told apart by their titles.
_TITLED = ("exercises/", "solutions/", "chapters/when_it_breaks/")
_NOT_FOUND_BODY = """\
<section><h1>There is no such page</h1>
<p>It may have moved, or the address has a slip. Go to the <a href="{root}">introduction</a>, look an error up in the
<a href="{symptoms}">symptom index</a>, or search the book.</p></section>
"""
_SYMPTOMS = "chapters/reference/symptom_index"


def description(page: str, tree: nodes.document, given: str | None = None) -> str:
    """What a page is about, in one sentence or two: what its front matter says, or how its text begins."""
    told = given or _opening(tree)
    if page.startswith(_TITLED) and not given:
        title = next(iter(tree.findall(nodes.title)), None)
        told = f"{title.astext()}. {told}" if title is not None else told
    if len(told) <= _LONGEST:
        return told
    return told[: _LONGEST - 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def _opening(tree: nodes.document) -> str:
    first = next((one for one in tree.findall(nodes.paragraph) if isinstance(one.parent, nodes.section)), None)
    sentences = _SENTENCE.split(" ".join(first.astext().split())) if first is not None else []
    told = ""
    for sentence in sentences:
        if len(told) >= _SHORTEST:
            break
        told = f"{told} {sentence}".strip()
    return told


def _meta(name: str, content: str, kind: str = "name") -> str:
    return f'\n    <meta {kind}="{name}" content="{html.escape(content)}">'


def address_of(app: Sphinx) -> str:
    """Where the book will be, with a slash at its end; empty as long as nobody said."""
    base = app.config.html_baseurl
    return f"{base.rstrip('/')}/" if base else ""


def _describe(app: Sphinx, page: str, _template: str, context: dict[str, Any], tree: nodes.document | None) -> None:
    base, tags = address_of(app), ""
    if page == NOT_FOUND:
        # It answers for an address at any depth, so that its own links must begin somewhere.
        context["metatags"] = f'\n    <base href="{html.escape(base)}">' + _meta("robots", "noindex")
        return
    if tree is None:
        return
    told = description(page, tree, (context.get("meta") or {}).get("description"))
    tags += _meta("description", told) if told else ""
    if base:
        width, height = CARD_SIZE
        cards = {
            "og:type": "article",
            "og:site_name": app.config.html_title,
            "og:title": re.sub(r"<[^>]+>", "", html.unescape(context["title"])),
            "og:description": told,
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
    if address_of(app):
        uri = app.builder.get_target_uri
        symptoms = _SYMPTOMS if _SYMPTOMS in app.env.found_docs else app.config.root_doc
        body = _NOT_FOUND_BODY.format(root=uri(app.config.root_doc), symptoms=uri(symptoms))
        yield NOT_FOUND, {"title": "There is no such page", "body": body}, "page.html"


def _map(app: Sphinx, failure: Exception | None) -> None:
    base = address_of(app)
    if failure or not base or app.builder.format != "html":
        return
    root = ET.Element("urlset", xmlns="http://www.sitemaps.org/schemas/sitemap/0.9")
    for page in sorted(app.env.all_docs):
        ET.SubElement(ET.SubElement(root, "url"), "loc").text = base + app.builder.get_target_uri(page)
    out = Path(app.outdir)
    ET.ElementTree(root).write(out / MAP, encoding="utf-8", xml_declaration=True)
    # Read only where the book is at the root of its host; elsewhere it does no harm.
    (out / ROBOTS).write_text(f"User-agent: *\nAllow: /\nSitemap: {base}{MAP}\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", _describe)
    app.connect("html-collect-pages", _not_found)
    app.connect("build-finished", _map)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
