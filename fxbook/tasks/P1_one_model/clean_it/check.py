"""Clean a network: the result depends on every remaining node."""

from __future__ import annotations

from collections import Counter

from fxbook.cases import Check
from fxbook.graph.record import NodeRecord
from fxbook.rules.explained import given_edited, lints, no_leftovers, recompiled
from fxbook.rules.families import Family
from fxbook.rules.predicates import edited, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.trial import Trial
from fxbook.rules.view import CaseView

from ..check import input_by_keyword, inputs_kept, nothing_dead

_IDLE = Family("nothing", modules=frozenset({f"torch.nn.{name}" for name in ("Dropout", "Dropout2d", "Identity")}))


@rule
def idle_layers_taken_out(case: CaseView) -> Found:
    """No node calls a dropout or an identity."""
    for node in case.nodes:
        if node in _IDLE:
            still = f"still calls an {node.kind.replace('torch.', '')}" if node.kind else "is still there"
            yield node, still if node.users else f"{still}. It has no users left, so erase it"


def _is_needed(case: CaseView, node: NodeRecord) -> bool:
    """Whether the result of the given graph depends on the node."""
    met, waiting = set(), [one.index for one in case.before if one.op == "output"]
    while waiting:
        index = waiting.pop()
        if index not in met:
            met.add(index)
            waiting += case.before.nodes[index].inputs
    return node.index in met


@rule("03_replacement#what-removing-dead-code-deletes")
def others_stay(case: CaseView) -> Found:
    """Every node that the result depends on is still there, unless it calls an idle layer; there are no new nodes."""
    going = {node.index for node in case.before if node in _IDLE or not _is_needed(case, node)}
    for before in case.gone(going):
        if before.index not in going and before.op != "placeholder":
            yield before, f"is gone, but the result depends on it: `{before.call}`"
    now = case.now()
    for node in (now[before.index] for before in case.before if before in _IDLE and before.index in now):
        yield node, f"is still in the graph, as `{node.call}`: erase it"
    for node in case.new():
        yield node, "is new: the users of a dropout or an identity must use its input"


def explain(trial: Trial, kind: str) -> str | None:
    """Explain an ``AttributeError``: a layer that several nodes call has been deleted at the first of them."""
    calls = Counter(node.target for node in trial.before if node in _IDLE)
    shared = [f"`{target}`" for target, count in calls.items() if count > 1]
    if kind == "AttributeError" and shared:
        return f"Several nodes call the same layer, {' or '.join(sorted(shared))}."
    return input_by_keyword(trial, kind)


CHECK = Check(
    (
        lints,
        recompiled,
        edited,
        given_edited,
        idle_layers_taken_out,
        inputs_kept,
        others_stay,
        same_result,
        nothing_dead,
        no_leftovers,
    ),
    on_error=explain,
)
