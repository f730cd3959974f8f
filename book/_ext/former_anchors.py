"""Let a link from another page lead to an anchor that a page sets by hand, such as the former one of a heading.

A local Sphinx extension, named in `_config.yml`. MyST knows only the anchors of headings and warns of any other, though
a line ``<a id="…"></a>`` is a place to link to in every browser.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx

_MARK = re.compile(r'<a id="([^"]+)">')


def register(app: Sphinx, document: nodes.document) -> None:
    """Add the anchors of a page that was read to those that MyST knows of it."""
    known = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for raw in document.findall(nodes.raw):
        for name in _MARK.findall(raw.astext()):
            known.setdefault(name, (raw.line, name, name))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the step with Sphinx."""
    app.connect("doctree-read", register)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
