"""Remove the bottleneck of a GPT: the same scores, with no more work than they need."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Check
from fxbook.cases.exercise import inputs_of, model_of, same_as_eager
from fxbook.cases.running import one_thread
from fxbook.cases.values import Value, difference
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.rules.explained import lints, recompiled
from fxbook.rules.predicates import all_in_sight, input_unchanged, no_dead_nodes, runs, shares_weights
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import GPT, OtherGPT, RankingGPT, ScoringGPT, flops_by_node

REPAIR = "09_profiling#find-it-change-it-measure-again"

# Operations that treat each position separately; the exercise lists them.
_BY_POSITION = ("torch.nn.Linear", "torch.nn.LayerNorm", "torch.tanh")


class Repaired(nn.Module):
    """The same scores; the head computes only the position that is returned."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        assert isinstance(model, GPT)
        self.model = model

    def forward(self, tokens: Tensor) -> Any:
        model = self.model
        if isinstance(model, ScoringGPT | RankingGPT):
            return model(tokens)  # It needs all of its work.
        hidden = model.hidden(tokens)
        if isinstance(model, OtherGPT):
            normed = model.final(hidden)
            return model.scored(normed[:, -1]).softmax(dim=-1), normed.mean(dim=1)
        return model.head(model.norm(hidden)[:, -1])  # The norm counts as 0 FLOPs.


def flops_needed(case: CaseView) -> dict[str, int]:
    """The FLOPs without the bottleneck, by the path of the submodule; ``""`` for all other nodes."""
    traced = fx.symbolic_trace(Repaired(model_of(case.case, case.seed)))
    with one_thread(), torch.no_grad():
        flops = flops_by_node(traced, *inputs_of(case.case, case.seed)[0])
    needed: Counter[str] = Counter()
    for node in traced.graph.nodes:
        needed[node.target.removeprefix("model.") if node.op == "call_module" else ""] += flops[node.name]
    return needed


def parts(output: Value) -> tuple[Value, dict[str, int]]:
    """The two parts of an output, as made by ``counted``: the result, and the FLOPs of the nodes."""
    value, flops = output["tuple"]
    return value, dict(flops["dict"])


@rule
def same_scores(case: CaseView) -> Found:
    """The result is that of the model; like ``same_result``, but for outputs that also contain FLOPs."""
    fault = next(_other_scores(case), None)
    if fault:
        yield from _passed_too_far(case)
        yield fault


def _other_scores(case: CaseView) -> Found:
    yield from runs.find(case)
    for output, expected in zip(case.outputs or [], case.expected, strict=True):
        if differs := difference(parts(output)[0], expected):
            returning = next((node for node in case.nodes if node.op == "output"), None)
            yield returning, f"The result is not that of the model: {differs}."


def _passed_too_far(case: CaseView) -> Found:
    """Nodes that no longer get every position, although they, or another user of their result, need all of them."""
    if case.graph is None:
        return
    select = next(node for node in case.before if node.target == "operator.getitem" and "(:, -1)" in node.call)
    way = {*_above(case.before, select), select.index}
    for node in case.nodes:
        was = case.before.named(node.name)
        if was is None or was.target == select.target or was.op == "output":
            continue
        before = _above(case.before, was)
        above = [case.before.named(case.nodes[index].name) for index in _above(case.graph, node)]
        narrowed = any(
            other is None or (other.target == select.target and other.index not in before) for other in above
        )
        if not narrowed or select.index in before:
            continue
        if (was.kind or was.target) not in _BY_POSITION:
            why = "it is not an nn.Linear, nn.LayerNorm or torch.tanh"
            yield node, f"no longer gets every position: {why}", REPAIR
        for user in was.users:
            if user not in way:
                other = case.before.nodes[user]
                if other.target == select.target:
                    yield (
                        node,
                        f"no longer gets every position: its user `{other.name}` selects other positions",
                        REPAIR,
                    )
                yield node, f"no longer gets every position: its user `{other.name}` needs all of them", REPAIR


def _above(graph: GraphRecord, node: NodeRecord) -> set[int]:
    """The indices of the nodes that the node depends on."""
    met: set[int] = set()
    waiting = list(node.inputs)
    while waiting:
        if (index := waiting.pop()) not in met:
            met.add(index)
            waiting += graph.nodes[index].inputs
    return met


@rule("09_profiling#work-can-be-counted")
def bottleneck_gone(case: CaseView) -> Found:
    """The result does no more FLOPs than a model whose head computes only the position that is returned."""
    needed = flops_needed(case)
    enough = sum(needed.values())
    for output in case.outputs or []:
        flops = parts(output)[1]
        total = sum(flops.values())
        if total > 1.01 * enough:
            # The node whose FLOPs most exceed those that its module needs; a node that calls no module needs none.
            beyond = {
                node.index: flops.get(node.name, 0) - (needed[node.target] if node.op == "call_module" else 0)
                for node in case.nodes
            }
            node = case.nodes[max(beyond, key=lambda index: beyond[index])]
            share = 100 * flops[node.name] / total
            work = f"The returned module still does {total / enough:.1f} times the FLOPs that it needs"
            yield node, f"{work}: node `{node.name}` does {share:.0f} % of them."


CHECK = Check(
    (lints, recompiled, same_scores, all_in_sight, bottleneck_gone, no_dead_nodes, input_unchanged, shares_weights),
    expected=one_thread()(same_as_eager),
)
