"""What the exercises of chapter 08 demand of answers that are data: which values are alive at which node."""

from __future__ import annotations

from collections.abc import Callable

from fxbook.asking.rule import Violation
from fxbook.asking.values import Value
from fxbook.asking.view import CaseView
from fxbook.checks.legacy import configurable
from fxbook.graph.record import GraphRecord, NodeRecord

# ---- the bound, from the graph alone ---------------------------------------------------------------------------------


def last_reader(graph: GraphRecord, node: NodeRecord) -> NodeRecord:
    """The last node of the list that reads this one, and the node itself where none does."""
    return graph.nodes[max(node.users, default=node.index)]


def needed(graph: GraphRecord) -> dict[str, set[str]]:
    """For each node that computes, the values that exist by then and that it or a later node reads.

    A value changed in place is read by the readers of what the change returns: they are one tensor.
    """
    same = {node.index: node.inputs[0] for node in graph if node.op == "call_method" and node.target.endswith("_")}
    reads = {node.index: {same.get(read, read) for read in node.inputs} for node in graph}
    steps = [node for node in graph if node.op.startswith("call")]
    return {
        step.name: {
            value.name
            for value in graph
            if (value.op == "placeholder" or value.index < step.index)
            and any(value.index in read for index, read in reads.items() if index >= step.index)
        }
        for step in steps
    }


def unneeded(graph: GraphRecord, holds: Callable[[NodeRecord], bool]) -> dict[str, set[str]]:
    """For each node that computes, what is alive without need where values of which ``holds`` says so never go."""
    need = needed(graph)
    held: dict[str, set[str]] = {}
    for step in graph:
        if step.op.startswith("call"):
            made = [node for node in graph if node.op == "placeholder" or node.index < step.index]
            held[step.name] = {node.name for node in made if holds(node)} - need[step.name]
    return held


# ---- answers that are data -------------------------------------------------------------------------------------------


def table(value: Value) -> dict[str, Value] | None:
    """An encoded dict with names or nodes as keys, by name; ``None`` for anything else."""
    if not (isinstance(value, dict) and "dict" in value):
        return None
    named = {name_of(key): item for key, item in value["dict"]}
    return None if None in named else {key: item for key, item in named.items() if key is not None}


def names(value: Value) -> set[str] | None:
    """An encoded set, list or tuple of names or nodes, as a set of names; ``None`` for anything else."""
    items = value if isinstance(value, list) else None
    if isinstance(value, dict):
        items = next((value[kind] for kind in ("set", "tuple") if kind in value), None)
    if items is None:
        return None
    found = [name for item in items if (name := name_of(item)) is not None]
    return set(found) if len(found) == len(items) else None


def name_of(value: Value) -> str | None:
    """The name that an encoded text is, or that an encoded node has."""
    match value:
        case str():
            return value
        case {"node": str(name)}:
            return name
    return None


def ends_at_last_reader(case: CaseView) -> Violation | None:
    """The answer maps the name of each node but ``output`` to the name of its last reader."""
    found, graph = table(told_of(case)), case.before
    if found is None:
        return Violation("The answer is not a dict with names of nodes as keys.")
    for node in graph:
        if node.op == "output":
            continue
        if node.name not in found:
            return Violation(f"Node `{node.name}` is missing in the answer.")
        told, right = name_of(found[node.name]), last_reader(graph, node)
        if told == right.name:
            continue
        if not node.users:
            return Violation(f"Nothing reads node `{node.name}`: the answer for it was to be itself, not `{told}`.")
        reads = [graph.nodes[user].name for user in node.users]
        if told in reads:
            return Violation(f"Node `{told}` reads `{node.name}`, but another reader stands further down in the list.")
        return Violation(f"The answer for `{node.name}` is `{told}`, which does not read it.")
    if "output" in found:
        return Violation("`output` is in the answer, but it is no value that goes.")
    extra = next((name for name in found if graph.named(name) is None), None)
    return Violation(f"`{extra}` is in the answer, but it is no node of the graph.") if extra else None


def graph_left_alone(case: CaseView) -> Violation | None:
    """The graph that was handed over is as it was."""
    match case.value:
        case {"dict": [_, ["changed", [str(name), *_]]]}:
            return Violation(f"The graph that was handed over has been changed: node `{name}` is not as it was.")
    return None


def told_of(case: CaseView) -> Value:
    """What the answer told, of an answer that was used by ``used_08.told_of_graph``."""
    match case.value:
        case {"dict": [["told", told], ["changed", _]]}:
            return told
    return None


def tells_needed(case: CaseView) -> Violation | None:
    """The answer maps each node that computes to the values that have to be alive while it does."""
    return _compared(case, told_of(case), needed(case.before), "must be alive")


@configurable
def tells_unneeded(case: CaseView, holds: dict[type, Callable[[NodeRecord], bool]]) -> Violation | None:
    """The answer maps each node that computes to what is alive without need; ``holds`` tells it of each interpreter."""
    return _compared(case, case.value, unneeded(case.before, holds[case.arguments[0]]), "is alive without need")


def _compared(case: CaseView, answer: Value, asked: dict[str, set[str]], what: str) -> Violation | None:
    found = table(answer)
    if found is None:
        return Violation("The answer is not a dict with names of nodes as keys.")
    for step, right in asked.items():
        if step not in found:
            return Violation(f"Node `{step}` computes, but is missing in the answer.")
        told = names(found[step])
        if told is None:
            return Violation(f"What the answer has for node `{step}` is not a set of names.")
        if step in told - right:
            return Violation(f"`{step}` is in the answer for itself: its own result is not counted.")
        for value in sorted(told - right):
            why = "need not be alive."
            if what != "must be alive":
                due = value in needed(case.before)[step]
                why = "has to be alive." if due else "goes earlier in this interpreter: what else holds it?"
            return Violation(f"Node `{value}` is in the answer for `{step}`, but it {why}")
        for value in sorted(right - told):
            return Violation(f"While node `{step}` computes, `{value}` {what}: the answer lacks it.")
    extra = next((name for name in found if name not in asked), None)
    return Violation(f"`{extra}` is in the answer, but computes nothing.") if extra else None
