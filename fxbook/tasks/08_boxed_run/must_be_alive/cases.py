"""Graphs with every kind of argument, two with a weight, and one whose nodes were moved."""

from __future__ import annotations

from fxbook.cases import Case, Usage
from fxbook.cases.running import with_changes

from ..cases import Attention, Mixed, Nested, Residual, Unused, Weighted, Windowed, graph_of, moved_graph_of

USAGE = Usage(
    "compute",
    cases=(
        Case("the gated mix", Mixed, tuple),
        Case("the attention of the chapter", Attention, tuple),
        Case("a residual, and an input that is returned", Residual, tuple, unseen=True),
        Case("values without users", Unused, tuple, unseen=True),
        Case("values used in lists and by keyword", Nested, tuple, unseen=True),
        Case("a graph whose nodes were moved", Nested, tuple, unseen=True, given=moved_graph_of),
        Case("a graph that fetches a weight", Weighted, tuple, unseen=True),
        Case("a slice up to a value, and a weight fetched late", Windowed, tuple, unseen=True),
    ),
    given=graph_of,
    call=with_changes,
)
