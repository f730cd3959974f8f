"""Ask whether a module survives a pickle."""

from __future__ import annotations

import copy
import pickle

from torch import fx

from fxbook.asking import Check
from fxbook.asking.predicates import input_unchanged
from fxbook.asking.rule import Found, rule
from fxbook.asking.view import CaseView

from ..check import left_alone, noted

_PICKLE = "04_recompile#save-and-load"


def survives(traced: fx.GraphModule) -> bool:
    """Whether what comes out of a pickle calls the same targets in the same order as the graph."""
    held = fx.GraphModule(traced, copy.deepcopy(traced.graph))
    try:
        loaded = pickle.loads(pickle.dumps(held))
    except Exception:
        return False
    return [(node.op, node.target) for node in loaded.graph.nodes] == [
        (node.op, node.target) for node in traced.graph.nodes
    ]


@rule
def foretells_the_pickle(case: CaseView) -> Found:
    """The answer says whether the module comes out of a pickle with the program that its graph has."""
    said = noted(case).get("said")
    if not isinstance(said, bool):
        yield None, "Your function returns neither True nor False."
        return
    truth = survives(*case.arguments)
    if truth and not said:
        yield None, f"It says False, and the program survives: {case.case.name}.", _PICKLE
    elif said and not truth:
        yield None, f"It says True, and the program does not survive: {case.case.name}.", _PICKLE


CHECK = Check((input_unchanged, left_alone, foretells_the_pickle))
