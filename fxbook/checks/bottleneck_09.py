"""What is demanded of a GPT whose bottleneck was removed: the same scores with no more work than is needed."""

from __future__ import annotations

from fxbook.asking.predicates import runs
from fxbook.asking.rule import Violation
from fxbook.asking.values import Value, difference
from fxbook.asking.view import CaseView
from fxbook.graph.record import GraphRecord, NodeRecord

_WORK = "09_profiling#work-can-be-counted"
_REPAIR = "09_profiling#find-it-change-it-measure-again"


def _parts(output: Value) -> tuple[Value, dict[str, int]]:
    value, flops = output["tuple"]
    return value, dict(flops["dict"])


def same_scores(case: CaseView) -> Violation | None:
    """As ``same_result``, of what stands beside the FLOPs."""
    broken = runs(case)
    differs = not broken and next(
        (
            said
            for found, expected in zip(case.outputs or [], case.expected, strict=True)
            if (said := difference(_parts(found)[0], _parts(expected)[0]))
        ),
        None,
    )
    if not broken and not differs:
        return None
    if passed := _passed_too_far(case):
        return passed
    output = next((node.index for node in case.nodes if node.op == "output"), None)
    return broken or Violation(f"The result is not that of the model: {differs}.", output)


# What treats each position by itself, as the exercise says.
_BY_POSITION = ("torch.nn.Linear", "torch.nn.LayerNorm", "torch.tanh")


def _passed_too_far(case: CaseView) -> Violation | None:
    """A node that got every position and now gets fewer, although it, or another reader of its result, needs them."""
    if case.graph is None:
        return None
    select = next(node for node in case.before if node.target == "operator.getitem" and "(:, -1)" in node.call)
    way = _above(case.before, select)
    for node in case.nodes:
        was = case.before.named(node.name)
        above = [case.nodes[index].name for index in _above(case.graph, node)]
        narrowed = any(name == select.name or case.before.named(name) is None for name in above)
        if was is None or was.op == "output" or not narrowed or select.index in _above(case.before, was):
            continue
        if was is not select and (was.kind or was.target) not in _BY_POSITION:
            message = f"Node `{node.name}` no longer gets every position: it does not treat each by itself."
            return Violation(message, node.index, _REPAIR)
        other = next((case.before.nodes[user].name for user in was.users if user not in {*way, select.index}), None)
        if other and was is not select:
            message = f"Node `{node.name}` no longer gets every position, and `{other}`, which reads it too, needs all."
            return Violation(message, node.index, _REPAIR)
    return None


def _above(graph: GraphRecord, node: NodeRecord) -> set[int]:
    """The indices of the nodes that the node depends on."""
    met: set[int] = set()
    waiting = list(node.inputs)
    while waiting:
        if (index := waiting.pop()) not in met:
            met.add(index)
            waiting += graph.nodes[index].inputs
    return met


def bottleneck_gone(case: CaseView) -> Violation | None:
    """No more FLOPs than the model needs when its head works on the position that is returned."""
    for found, expected in zip(case.outputs or [], case.expected, strict=True):
        flops, allowed = _parts(found)[1], _parts(expected)[1]
        total, enough = sum(flops.values()), sum(allowed.values())
        if total > 1.01 * enough:
            # The node with the most work beyond what its module has to do; of those that call none, the largest.
            beyond = {
                node.index: flops.get(node.name, 0) - (allowed.get(node.target, 0) if node.op == "call_module" else 0)
                for node in case.nodes
            }
            node = case.nodes[max(beyond, key=lambda index: beyond[index])]
            share = 100 * flops[node.name] / total
            message = (
                f"The result still does {total / enough:.1f} times the work that is needed: "
                f"node `{node.name}` has {share:.0f} % of its FLOPs."
            )
            return Violation(message, node.index, _WORK)
    return None
