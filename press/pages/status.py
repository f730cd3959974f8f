"""The status page: what the book contains and what was proven, with all numbers counted from the files."""

from __future__ import annotations

import collections
import re
from pathlib import Path

from press.book import Book
from press.manuscript.claims import VERDICTS

_PAGE = """\
# Status

These numbers are counted from the book whenever its notebooks are generated, and checked by tests. The foot of this
page shows the day on which it was built.

| package | version |
|---|---|
{versions}

| what the book shows | count |
|---|---|
| notebooks that are run and compared | {notebooks} |
| cells of code in them | {cells} |
| outputs that are compared, of {outputs} | {compared} |
| outputs that differ from run to run, whose cells assert what they show | {hidden} |
| error messages asserted by their cells | {errors} |
| claims of the fact check | {claims} |
| names listed on the official page of torch.fx that a cell uses | {names} |

| what the exercises do | count |
|---|---|
| exercises | {exercises} |
| right answers, besides the published solution, that pass | {right} |
| wrong answers whose mistake is reported | {wrong} |

The minutes of a chapter are counted, not measured with readers: 180 words a minute, 3 seconds a line of code, 90
seconds a stepper.
"""
# A decorator, or a call to one: `right(the_same_but_for(…))`.
_DECORATOR = re.compile(r"^@?(right|wrong)\b(?=[(\n])", re.MULTILINE)
_VERSIONS = ("torch", "jupyter-book", "nbval", "matplotlib", "graphviz")


def page_text(book: Book) -> str:
    from press.pages.api.page import coverage  # Needs torch, which takes seconds to import.

    notebooks = list(book.proven())
    cells = [cell for notebook in notebooks for cell in notebook.cells if cell.cell_type == "code"]
    shown = [cell for cell in cells if cell.outputs]
    hidden = [cell for cell in shown if "nbval-ignore-output" in cell.metadata.get("tags", ())]
    verdicts = collections.Counter(claim.verdict for _, claims in book.claimed() for claim in claims)
    right, wrong = _answers(book.root)
    return _PAGE.format(
        versions="\n".join(f"| {name} | {book.pins[name]} |" for name in _VERSIONS if name in book.pins),
        notebooks=len(notebooks),
        cells=f"{len(cells):,}",
        outputs=f"{len(shown):,}",
        compared=f"{len(shown) - len(hidden):,}",
        hidden=len(hidden),
        errors=sum(cell.source.count("expect_error(") for cell in cells),
        claims=f"{verdicts.total()}: " + ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS),
        names=coverage(book),
        exercises=sum(len(sheet.exercises) for sheet in book.sheets()),
        right=right,
        wrong=wrong,
    )


def _answers(root: Path) -> tuple[int, int]:
    """How many answers are marked right and wrong."""
    paths = (root / "fxbook" / "tasks").glob("*/*/answers.py")
    counts = collections.Counter(
        kind for path in paths for kind in _DECORATOR.findall(path.read_text(encoding="utf-8"))
    )
    return counts["right"], counts["wrong"]
