"""Pool before ReLU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from fxbook.cases import Check
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.rules.explained import given_edited, output_last, recompiled
from fxbook.rules.families import Family
from fxbook.rules.predicates import edited, same_output
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import arguments_kept, lints, no_dead_nodes

MAX_POOL = Family("nn.MaxPool2d", modules=frozenset({"torch.nn.MaxPool2d"}))
RELU = Family("nn.ReLU", modules=frozenset({"torch.nn.ReLU"}))


def swaps(graph: GraphRecord, pool: NodeRecord) -> bool:
    """Whether a max-pool should change places with its input: a ReLU without other users."""
    relu = graph.nodes[pool.inputs[0]]
    return relu in RELU and relu.users == (pool.index,)


@rule
def swapped_only(case: CaseView) -> Found:
    """Only pairs of a ReLU and a pool changed places; all other nodes use what they used before."""
    if any(node.target != before.target for node, before in case.kept()):
        return  # The answer exchanged the targets, not the nodes.
    before_of = case.before.nodes
    pool_of = {node.inputs[0]: node.index for node in before_of if node in MAX_POOL and swaps(case.before, node)}
    relu_of = {pool: relu for relu, pool in pool_of.items()}
    now = case.now()
    for node, before in case.kept():
        if before.index in pool_of:
            expected = [pool_of[before.index]]
        else:
            inputs = before_of[relu_of[before.index]].inputs[:1] if before.index in relu_of else before.inputs
            # Users of the pool become users of the ReLU, except the ReLU itself.
            expected = [relu_of.get(index, index) for index in inputs]
        if all(index in now for index in expected) and [now[index].index for index in expected] != list(node.inputs):
            reads = ", ".join(f"`{case.nodes[index].name}`" for index in node.inputs) or "nothing"
            instead = ", ".join(f"`{now[index].name}`" for index in expected)
            yield node, f"uses {reads}, but should use {instead}{_stays(case, before)}"


def _stays(case: CaseView, before: NodeRecord) -> str:
    if before in MAX_POOL and not swaps(case.before, before):
        pooled = case.before.nodes[before.inputs[0]]
        why = "is not an nn.ReLU" if pooled not in RELU else f"has {len(pooled.users)} users"
        return f": `{pooled.name}` {why}"
    if before in RELU and len(before.users) > 1:
        return f": it has {len(before.users)} users"
    return f": `{before.name}` is not an nn.MaxPool2d" if before.kind and before not in MAX_POOL | RELU else ""


@rule
def pools_before_relus(case: CaseView) -> Found:
    """No max-pool is the only user of a ReLU; there are as many pools and ReLUs as before."""
    for kind in (MAX_POOL, RELU):
        count, expected = (sum(node in kind for node in graph) for graph in (case.nodes, case.before))
        if count != expected:
            yield None, f"The graph has {count} calls to {kind.label}, but had {expected}."
    for node in case.nodes:
        if node in MAX_POOL and node.inputs:
            relu = case.nodes[node.inputs[0]]
            if relu in RELU and set(relu.users) == {node.index}:
                yield node, f"still pools the result of `{relu.name}`"


@rule
def others_left(case: CaseView) -> Found:
    """A pool or a ReLU that is not in a pair to swap still has the same input and users."""
    missing = Counter(_pairs(case.before.nodes)) - Counter(_pairs(case.nodes))
    for reader, read in missing:
        swapped = (one for one in case.nodes if _called(one) == read and one.inputs)
        node = next((one for one in swapped if _called(case.nodes[one.inputs[0]]) == reader), None)
        if reader in MAX_POOL.modules:
            yield node, f"calls {read}, which is not an nn.ReLU: it should stay before its pool"
        yield node, f"should stay before its user, which calls {reader} and not an nn.MaxPool2d"


def _pairs(nodes: Sequence[NodeRecord]) -> Iterator[tuple[str, str]]:
    """What a node and its input call, if the node is a pool or its input is a ReLU, but the two cannot be swapped."""
    for node in nodes:
        read = nodes[node.inputs[0]] if node.inputs else node
        if (node in MAX_POOL) != (read in RELU) or (node in MAX_POOL and len(read.users) > 1):
            yield _called(node), _called(read)


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
        same_output.or_because(swapped_only, others_left),
        no_dead_nodes,
        pools_before_relus,
        others_left,
    )
)
