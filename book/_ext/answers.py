"""Open an answer together with the output that it explains.

A local Sphinx extension, named in `_config.yml`. Where the reader is to guess what a cell prints, the output is folded,
and the printed notebook has the answer in a fold below the cell (`press/printing/transforms.py`): JupyterLab has no
other place for it. A page has one fold for both.
"""

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

_OPENS, _ENDS = '<details class="fx-answer">', "</details>"


class AnswersIntoFolds(SphinxPostTransform):
    """Move each answer into the fold above it, which MyST-NB has made at 199."""

    default_priority = 200
    formats = ("html",)

    def run(self, **_kwargs: object) -> None:
        """Find the folded outputs that an answer follows."""
        for fold in list(self.document.findall(HideCodeCellNode)):
            cell = fold.parent
            behind = cell.parent[cell.parent.index(cell) + 1 :]
            if behind and isinstance(behind[0], nodes.raw) and behind[0].astext().startswith(_OPENS):
                end = next(i for i, node in enumerate(behind) if node.astext().strip() == _ENDS)
                for node in behind[: end + 1]:
                    cell.parent.remove(node)
                fold += nodes.container("", *behind[1:end], classes=["fx-answer"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the step with Sphinx."""
    app.add_post_transform(AnswersIntoFolds)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
