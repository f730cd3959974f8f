"""An output to predict is folded, and so is its answer: in the generated notebook, in JupyterLab, and on the page."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from press.manuscript.problems import PressError
from press.manuscript.reading import HEADER, parse
from press.printing.derive import _metadata
from press.printing.transforms import ANSWER, with_answers
from tests.site.pages import PAGES, parsed

CELL = "```{code-cell} ipython3\n:tags: [hide-output]\n\n1\n```\n\n"


def after(text: str) -> str:
    """The prose after a folded output, as the notebook shows it."""
    page = parse(Path("a.md"), f"{HEADER}\n# A\n\n{CELL}{text}\n")
    return with_answers(page, SimpleNamespace()).cells[-1].source


def test_only_the_first_paragraph_is_folded() -> None:
    assert after("It is one.\n\nMore text.") == f"{ANSWER}\n\nIt is one.\n\n</details>\n\nMore text."
    assert after("On the small model:") == "On the small model:"
    assert after("## The next section") == "## The next section"


def test_a_lead_in_at_the_end_of_an_answer_is_rejected() -> None:
    with pytest.raises(PressError, match=r"a\.md:\d+: this paragraph is folded with the output above it"):
        after("It is one. Now two:")


def test_jupyterlab_folds_the_output_too() -> None:
    [_, cell] = parse(Path("a.md"), f"{HEADER}\n# A\n\n{CELL}").cells
    assert _metadata(cell) == {"jupyter": {"outputs_hidden": True}, "tags": ["hide-output"]}


def test_on_the_page_output_and_answer_open_together(built_book: Path) -> None:
    answers = 0
    for page in PAGES:
        html = parsed(built_book / f"{page}.html")
        assert not html.select("details.fx-answer"), page
        assert len(html.select(".fx-answer")) == len(html.select("details.below-input > .fx-answer")), page
        answers += len(html.select(".fx-answer"))
    assert answers > 100
