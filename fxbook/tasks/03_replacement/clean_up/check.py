"""Clean up without breaking anything."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.graph.record import NodeRecord
from fxbook.rules.explained import given_edited, no_leftovers, output_last, recompiled
from fxbook.rules.predicates import edited, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import effect, lints, nothing_dead

_EFFECT = "03_replacement#what-removing-dead-code-deletes"


@rule
def inputs_kept(case: CaseView) -> Found:
    """The graph has the same inputs as before, with or without users."""
    names = {node.target for node in case.nodes if node.op == "placeholder"}
    for node in case.before:
        if node.op == "placeholder" and node.target not in names:
            yield None, f"Input `{node.target}` is missing: callers can no longer pass it."


@rule(_EFFECT)
def effects_kept(case: CaseView) -> Found:
    """Nodes that work in place, draw random numbers or collect statistics are still there."""
    for before in case.gone():
        if before.op not in ("placeholder", "output") and (does := effect(case, before)):
            does = "has the keyword `out`" if "out" in dict(before.kwargs["dict"]) else does
            yield before, f"is missing: it {does} (`{before.call}`{_after(case, before)})"


def _after(case: CaseView, before: NodeRecord) -> str:
    """Where a missing node was, because the report draws the graph without it."""
    return f", after `{case.before.nodes[before.index - 1].name}` in the given graph" if before.index else ""


CHECK = Check(
    (
        edited,
        effects_kept,
        lints,
        recompiled,
        given_edited,
        inputs_kept,
        output_last,
        same_result,
        nothing_dead.at(_EFFECT),
        no_leftovers,
    )
)
