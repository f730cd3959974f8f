"""Accept links to a heading's former anchor, which the page keeps as ``<a id="…"></a>`` above it.

A local Sphinx extension, named in `_config.yml`. MyST knows only the headings of a page, and warns about links to other
anchors.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx

_MARK = re.compile(r'<a id="([^"]+)">')


def _note(app: Sphinx, document: nodes.document) -> None:
    known = app.env.metadata[app.env.docname].get("myst_slugs", {})
    for html in document.findall(nodes.raw):
        for name in _MARK.findall(html.astext()):
            known.setdefault(name, (0, name, ""))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", _note)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
