"""Put answers into the folds of outputs, let tables scroll sideways, and link the sections that reports name.

A local Sphinx extension, named in `_config.yml`. If readers should predict what a cell prints, its output is folded,
and the generated notebook has the answer in a fold below the cell (`press/printing/transforms.py`), because JupyterLab
has no other place for it. A page has one fold for both.
"""

import html
import json
import posixpath
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

_OPENS, _ENDS = '<details class="fx-answer">', "</details>"
# The last line of a report (`fxbook/checking/report.py`).
_READ = re.compile(r"^Read: (.+) \(chapters/([\w/]+)\.ipynb\)$", re.MULTILINE)
_SECTION = re.compile(r"section “(.+)”")
# The gap between columns of a table. In generated code, two spaces also follow a semicolon or precede a comment.
_GAP = re.compile(r"[^\s;] {2,}[^\s#]")
# In a longer line, two columns are a name and a message.
_LONGEST_PAIR = 90


class AnswersIntoFolds(SphinxPostTransform):
    """Move each answer into the fold above it, which MyST-NB creates at priority 199."""

    default_priority = 200
    formats = ("html",)

    def run(self, **_kwargs: object) -> None:
        for fold in list(self.document.findall(HideCodeCellNode)):
            cell = fold.parent
            following = cell.parent[cell.parent.index(cell) + 1 :]
            if following and isinstance(following[0], nodes.raw) and following[0].astext().startswith(_OPENS):
                end = next(i for i, node in enumerate(following) if node.astext().strip() == _ENDS)
                for node in following[: end + 1]:
                    cell.parent.remove(node)
                fold += nodes.container("", *following[1:end], classes=["fx-answer"])


class MarkTables(SphinxPostTransform):
    """Mark outputs that are tables, whose lines must not wrap."""

    default_priority = 200
    formats = ("html",)

    def run(self, **_kwargs: object) -> None:
        for output in self.document.findall(nodes.literal_block):
            printed = "output" in output["classes"] or output.get("language") == "text"
            if printed and is_table(output.astext()):
                output["classes"].append("fx-columns")


def is_table(text: str) -> bool:
    """Whether at least two lines have columns and the longest line is a row of the table, not a sentence."""
    longest = max(text.splitlines(), key=len, default="")
    gaps = len(_GAP.findall(longest))
    rows = sum(map(bool, map(_GAP.search, text.splitlines())))
    return rows > 1 and gaps > 0 and (gaps > 1 or len(longest) <= _LONGEST_PAIR)


def linked(body: str, page: str, sections: dict[str, dict[str, str]]) -> str:
    """Link the last line of each report to the section that it names.

    Args:
        body: the HTML.
        page: its name, ``"exercises/03_replacement"``.
        sections: the headings of each chapter and companion, by anchor.
    """

    def link(read: re.Match[str]) -> str:
        text, chapter = read.groups()
        named = _SECTION.search(html.unescape(text))
        known = named and named[1] in sections.get(chapter, {}).values()
        address = posixpath.relpath(f"chapters/{chapter}.html", posixpath.dirname(page))
        # A page has docutils' anchors, not a notebook's.
        return f'Read: <a href="{address}{f"#{nodes.make_id(named[1])}" if known else ""}">{text}</a>'

    return _READ.sub(link, body)


def _link_reports(app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    source = Path(app.srcdir) / "fxbook" / "sections.json"
    if "Read: " in context.get("body", "") and source.is_file():
        context["body"] = linked(context["body"], page, json.loads(source.read_text("utf-8")))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(AnswersIntoFolds)
    app.add_post_transform(MarkTables)
    app.connect("html-page-context", _link_reports)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
