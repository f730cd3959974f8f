"""Ask whether a module survives a pickle."""

from __future__ import annotations

import copy
import pickle

from torch import fx

from fxbook.cases import Check
from fxbook.graph.naming import target_name
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import bool_of
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
    before, after = (
        [(node.op, target_name(node), node.target) for node in one.graph.nodes] for one in (traced, loaded)
    )
    place = next((place for place, (was, now) in enumerate(zip(before, after, strict=False)) if was != now), None)
    if place is None:  # Both end in their only output.
        return None
    was, now = (f"{'an' if op == 'output' else 'a'} {op} of {name}" for op, name, _ in (before[place], after[place]))
    return f"{was} is lost" if before[place + 1 :] == after[place:] else f"{was} becomes {now}"


@rule
def predicts_the_pickle(case: CaseView) -> Found:
    """The answer says whether the program in the module's graph survives a pickle."""
    said = bool_of(noted(case).get("said"))
    if said is None:
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
