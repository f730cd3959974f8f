"""Say whether a module is stale."""

from __future__ import annotations

import itertools

from torch import fx

from fxbook.cases import Check
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import bool_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import left_alone, noted

_SEES = "04_recompile#who-sees-an-edit-at-once"


@rule
def says_whether_stale(case: CaseView) -> Found:
    """The answer is ``True`` for a module whose text is older than its graph, else ``False``."""
    [traced] = case.arguments
    # The text alone decides: a record is also stale if a name in the text now refers to another function.
    stale, said = traced.code != traced.graph.python_code("self").src, bool_of(noted(case).get("said"))
    if said is None:
        yield None, "Your function returns neither True nor False."
    elif stale and not said:
        code, graph = _first_difference(traced)
        told = f"the code has `{code}`, the graph gives `{graph}`"
        yield None, f"It returns False, but the code is stale: {told}.", _SEES
    elif said and not stale:
        yield None, "It returns True, but the code is up to date: the graph gives the same text.", _SEES


def _first_difference(traced: fx.GraphModule) -> tuple[str, str]:
    """The first line of the code that differs from what the graph generates, and the line that the graph generates.

    Both lines leave out what is freed after the step, unless only that differs.
    """
    texts = (traced.code, traced.graph.python_code("self").src)
    pairs = itertools.zip_longest(*(text.splitlines() for text in texts), fillvalue="")
    code, graph = next(pair for pair in pairs if pair[0] != pair[1])
    step, due = code.partition(";  ")[0], graph.partition(";  ")[0]
    return (code.strip(), graph.strip()) if step == due else (step.strip(), due.strip())


CHECK = Check((input_unchanged, left_alone, says_whether_stale))
