"""The editions contain every page of the site once, in the site's order, with solutions last."""

from __future__ import annotations

from extras.editions.toc import SOLUTIONS, entries
from press import ROOT
from tests.site.pages import PAGES


def test_every_page_is_included_once_with_solutions_last() -> None:
    found = entries(ROOT / "_toc.yml")
    rest = [page for page in PAGES if not page.startswith(SOLUTIONS)]
    assert [entry.name for entry in found] == [*rest, *(page for page in PAGES if page.startswith(SOLUTIONS))]
    assert {entry.part for entry in found[len(rest) :]} == {"Solutions"}
    assert {entry.depth for entry in found if entry.name.startswith("exercises/")} == {1}
