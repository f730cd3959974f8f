"""The pages that are generated from the manuscript and all notebooks, by their path in the book."""

from __future__ import annotations

from pathlib import Path

from press import imprint
from press.book import Book
from press.pages import architectures, exercises, fact_check, random_graphs, status, symptoms, versions, wild
from press.printing.freshness import Texts


def _api_index(book: Book) -> str:
    from press.pages.api.page import page_text  # This imports torch, which takes seconds.

    return page_text(book)


PAGES: Texts = {
    Path("chapters/reference/symptom_index.md"): symptoms.page_text,
    Path("chapters/reference/api_index.md"): _api_index,
    Path("chapters/reference/exercises.md"): exercises.all_exercises,
    Path("chapters/reference/solved.md"): exercises.solved,
    Path("chapters/reference/fact_check.md"): fact_check.page_text,
    Path("chapters/reference/status.md"): status.page_text,
    Path("chapters/reference/architectures.md"): architectures.page_text,
    Path("chapters/reference/random_graphs.md"): random_graphs.page_text,
    Path("chapters/reference/versions.md"): versions.page_text,
    Path("chapters/reference/wild.md"): wild.page_text,
    imprint.CITATION: lambda book: imprint.citation(book.imprint),
}
