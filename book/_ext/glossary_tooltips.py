"""Show definitions as tooltips on links to the glossary, and add a switch for other languages to the glossary.

A local Sphinx extension, named in `_config.yml`. If the glossary changes, every page is written again.
"""

from __future__ import annotations

import html
import posixpath
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

GLOSSARY = "book/reference/glossary"
_LINK = re.compile(r'<a class="reference internal" href="([^"#]+)#([^"]+)">')
# The second line of an entry.
_LANGUAGES = re.compile(r"<br ?/?>\s*Japanese(?:(?!</p>).)*", re.DOTALL)
# The switch works without a script, since the style sheet reads its state.
_SWITCH = (
    '<p class="fx-switch"><label class="fx-tick"><input type="checkbox" id="fx-languages">'
    " Show the Japanese and Chinese words</label></p>"
)
_SHOWN_IN = re.compile(r"\s\(chapter ")


def definitions(tree: nodes.document) -> dict[str, str]:
    """The definitions of the glossary by anchor."""
    found = {}
    for section in tree.findall(nodes.section):
        first = next((child for child in section.children if isinstance(child, nodes.paragraph)), None)
        if first is None:
            continue
        definition, *more = _SHOWN_IN.split(first.astext(), maxsplit=1)
        if more:
            found[section["ids"][0]] = " ".join(definition.split())
    return found


def titled(body: str, page: str, definitions: dict[str, str]) -> str:
    """Add titles to a page's links to the glossary.

    Args:
        body: the HTML.
        page: its name, ``"chapters/03_replacement"``.
        definitions: the definitions by anchor.
    """

    def title(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), link[1]))
        if target != f"{GLOSSARY}.html" or link[2] not in definitions:
            return link[0]
        return f'{link[0][:-1]} title="{html.escape(definitions[link[2]])}">'

    return _LINK.sub(title, body)


def switched(body: str) -> str:
    """Mark the words of other languages in the glossary, and add the switch below its first lines."""
    return _LANGUAGES.sub(r'<span class="fx-languages">\g<0></span>', body).replace("</p>", f"</p>\n{_SWITCH}", 1)


def _set_titles(app: Sphinx, page: str, _template: str, context: dict[str, Any], tree: Any) -> None:
    if tree is None or "body" not in context or GLOSSARY not in app.env.found_docs:
        return
    if not hasattr(app, "fx_definitions"):
        app.fx_definitions = definitions(app.env.get_doctree(GLOSSARY))
    context["body"] = titled(context["body"], page, app.fx_definitions)
    if page == GLOSSARY and app.builder.name == "html":
        context["body"] = switched(context["body"])


def _note_glossary(app: Sphinx, _env: BuildEnvironment, read: list[str]) -> None:
    app.fx_glossary_read = GLOSSARY in read  # type: ignore[attr-defined]


def _write_all(app: Sphinx, env: BuildEnvironment) -> list[str]:
    return sorted(env.found_docs) if getattr(app, "fx_glossary_read", False) else []


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("env-before-read-docs", _note_glossary)
    app.connect("env-updated", _write_all)
    app.connect("html-page-context", _set_titles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
