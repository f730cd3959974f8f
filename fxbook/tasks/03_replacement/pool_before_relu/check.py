"""Pool before ReLU."""

from __future__ import annotations

from collections import Counter

from fxbook.cases import Check
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.rules.explained import given_edited, output_last, recompiled
from fxbook.rules.families import Family
from fxbook.rules.predicates import edited, same_output
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import arguments_kept, lints, nothing_dead

MAX_POOL = Family("nn.MaxPool2d", modules=frozenset({"torch.nn.MaxPool2d"}))
RELU = Family("nn.ReLU", modules=frozenset({"torch.nn.ReLU"}))


def swaps(graph: GraphRecord, pool: NodeRecord) -> bool:
    """Whether a max-pool is to change places with what it reads: a ReLU that nothing else reads."""
    relu = graph.nodes[pool.inputs[0]]
    return relu in RELU and relu.users == (pool.index,)


@rule
def swapped_only(case: CaseView) -> Found:
    """Pools and ReLUs that are no such pair, and all other nodes, read what they read before."""
    before_of = case.before.nodes
    pool_of = {node.inputs[0]: node.index for node in before_of if node in MAX_POOL and swaps(case.before, node)}
    relu_of = {pool: relu for relu, pool in pool_of.items()}
    now = case.now()
    for node, before in case.kept():
        if before.index in pool_of:
            asked = [pool_of[before.index]]
        else:
            inputs = before_of[relu_of[before.index]].inputs[:1] if before.index in relu_of else before.inputs
            # Whoever is to read a pool reads the ReLU behind it, but for that ReLU.
            asked = [relu_of.get(index, index) for index in inputs]
        if all(index in now for index in asked) and [now[index].index for index in asked] != list(node.inputs):
            reads = ", ".join(f"`{case.nodes[index].name}`" for index in node.inputs) or "nothing"
            wanted = ", ".join(f"`{now[index].name}`" for index in asked)
            yield node, f"reads {reads}, where {wanted} was asked{_stays(case, before)}"


def _stays(case: CaseView, before: NodeRecord) -> str:
    if before in MAX_POOL and not swaps(case.before, before):
        pooled = case.before.nodes[before.inputs[0]]
        why = "is no nn.ReLU" if pooled not in RELU else f"has {len(pooled.users)} users"
        return f": `{pooled.name}` {why}"
    if before in RELU and len(before.users) > 1:
        return f": it has {len(before.users)} users"
    return f": `{before.name}` is no nn.MaxPool2d" if before.kind and before not in MAX_POOL | RELU else ""


@rule
def pools_before_relus(case: CaseView) -> Found:
    """No max-pool reads a ReLU that nothing else reads, and there are as many of both as before."""
    for kind in (MAX_POOL, RELU):
        count, asked = (sum(node in kind for node in graph) for graph in (case.nodes, case.before))
        if count != asked:
            yield None, f"The graph has {count} nodes that call {kind.label}: it had {asked}."
    for node in case.nodes:
        if node in MAX_POOL and node.inputs:
            relu = case.nodes[node.inputs[0]]
            if relu in RELU and set(relu.users) == {node.index}:
                yield node, f"still pools what `{relu.name}` gives"


@rule
def others_left(case: CaseView) -> Found:
    """What a pool pooled that was no such pair, a pool still pools."""
    asked, found = Counter(), Counter()
    for pool in case.before:
        if pool in MAX_POOL and not swaps(case.before, pool):
            asked[_called(case.before.nodes[pool.inputs[0]])] += 1
    for pool in case.nodes:
        if pool in MAX_POOL and pool.inputs:
            found[_called(case.nodes[pool.inputs[0]])] += 1
    for name in asked - found:
        pooled = [node for node in case.nodes if _called(node) == name]
        node = next((node for node in pooled if any(case.nodes[index] in MAX_POOL for index in node.inputs)), None)
        yield node, f"calls {name}, which is no nn.ReLU: it was to stay before its pool"


def _called(node: NodeRecord) -> str:
    return node.kind or node.target


CHECK = Check(
    (
        arguments_kept,
        lints,
        output_last,
        recompiled,
        edited,
        given_edited,
        same_output.or_because(swapped_only),
        nothing_dead,
        pools_before_relus,
        others_left,
    ),
)
