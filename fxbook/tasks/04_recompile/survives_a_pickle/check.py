"""Ask whether a module survives a pickle."""

from __future__ import annotations

import copy
import itertools
import pickle

from torch import fx

from fxbook.cases import Check
from fxbook.graph.naming import target_name
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import left_alone, noted

_PICKLE = "04_recompile#save-and-load"


def lost(traced: fx.GraphModule) -> str | None:
    """How a pickle changes the program in the graph, in words; ``None`` if it does not."""
    held = fx.GraphModule(traced, copy.deepcopy(traced.graph))
    try:
        pickled = pickle.dumps(held)
    except Exception as error:
        return f"pickling raises {type(error).__name__}"
    try:
        loaded = pickle.loads(pickled)
    except Exception as error:
        return f"loading raises {type(error).__name__}"
    for before, after in itertools.zip_longest(traced.graph.nodes, loaded.graph.nodes):
        if before is None or after is None or (before.op, before.target) != (after.op, after.target):
            was, now = (f"a {node.op} of {target_name(node)}" if node else "nothing" for node in (before, after))
            return f"{was} becomes {now}"
    return None


@rule
def predicts_the_pickle(case: CaseView) -> Found:
    """The answer says whether the program in the module's graph survives a pickle."""
    said = noted(case).get("said")
    if not isinstance(said, bool):
        yield None, "Your function returns neither True nor False."
        return
    changed = lost(*case.arguments)
    if changed is None and not said:
        kept = "but the program survives: opcodes, targets and their order stay the same"
        yield None, f"Your function returns False for {case.case.name}, {kept}.", _PICKLE
    elif changed is not None and said:
        gone = f"but the program does not survive: {changed}"
        yield None, f"Your function returns True for {case.case.name}, {gone}.", _PICKLE


CHECK = Check((input_unchanged, left_alone, predicts_the_pickle))
