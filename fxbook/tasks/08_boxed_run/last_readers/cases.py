"""Graphs with values that have no users, or are used in lists and by keyword; one graph whose nodes were moved."""

from __future__ import annotations

from fxbook.cases import Case, Usage
from fxbook.cases.running import with_changes

from ..cases import Attention, Nested, Unused, Weighted, Windowed, graph_of, moved_graph_of

USAGE = Usage(
    "compute",
    cases=(
        Case("the attention of the chapter", Attention, tuple),
        Case("values without users", Unused, tuple),
        Case("values used in lists and by keyword", Nested, tuple, unseen=True),
        Case("a graph whose nodes were moved", Nested, tuple, unseen=True, given=moved_graph_of),
        Case("a graph that fetches a weight", Weighted, tuple, unseen=True),
        Case("a value used in a slice, and a result used twice", Windowed, tuple, unseen=True),
    ),
    given=graph_of,
    call=with_changes,
)
