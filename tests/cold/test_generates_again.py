"""A notebook generated again in a cold kernel equals the committed one byte for byte, except for timings."""

from __future__ import annotations

import asyncio

import pytest
from nbformat import NotebookNode

from press import ROOT
from press.book import the_book
from press.printing.derive import Derived
from press.printing.execution import execute
from press.printing.freshness import derive_as_stored
from press.stored import serialised
from tests.cold import drawn

BOOK = the_book()
EXECUTED = [derived for source in BOOK.sources for derived in derive_as_stored(BOOK, source) if derived.executed]


@pytest.mark.parametrize(
    "derived", drawn.some(EXECUTED, 40), ids=lambda derived: derived.path.relative_to(ROOT).as_posix()
)
def test_a_second_run_gives_the_same_bytes(derived: Derived) -> None:
    stored = BOOK.stored(derived.path)
    assert stored is not None
    assert serialised(stable(asyncio.run(execute(derived)))) == serialised(stable(stored))


def stable(notebook: NotebookNode) -> NotebookNode:
    """The notebook without timings, which nbval does not compare either."""
    for cell in notebook.cells:
        if "nbval-ignore-output" in cell.metadata.get("tags", ()):
            cell.outputs = []
    return notebook
