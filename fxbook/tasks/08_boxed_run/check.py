"""Which values must be alive at which node, and what the exercises of chapter 08 require of answers that are data."""

from __future__ import annotations

from collections.abc import Callable

from fxbook.cases.values import Value
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.rules.returned import names_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def last_user(graph: GraphRecord, node: NodeRecord) -> NodeRecord:
    """The last node in the list that reads this one, or the node itself if none does."""
    return graph.nodes[max(node.users, default=node.index)]


def needed(graph: GraphRecord) -> dict[str, set[str]]:
    """For each node that computes, the values that exist by then and that it or a later node reads.

    A value changed in place is used by the users of what the change returns: they are one tensor.
    """
    same = {node.index: node.inputs[0] for node in graph if node.op == "call_method" and node.target.endswith("_")}
    reads = {node.index: {same.get(read, read) for read in node.inputs} for node in graph}
    return {
        step.name: {
            value.name
            for value in made_before(graph, step)
            if any(value.index in read for index, read in reads.items() if index >= step.index)
        }
        for step in graph
        if step.op.startswith("call")
    }


def made_before(graph: GraphRecord, step: NodeRecord) -> list[NodeRecord]:
    """The nodes whose values exist when this one runs: the inputs, and the nodes above it."""
    return [node for node in graph if node.op == "placeholder" or node.index < step.index]


def differences(
    answer: Value,
    asked: dict[str, set[str]],
    missing: str,
    surplus: Callable[[str, str], str],
    lacking: Callable[[str], str] = lambda value: "",
) -> Found:
    """How a table of values by computing node differs from the expected one.

    Args:
        answer: what was returned, encoded.
        asked: the names of the values, by node name.
        missing: what is true of a value that the answer lacks, as it follows the name.
        surplus: the same for a value that the answer has in excess; it gets the node and the value.
        lacking: what else is said about a value that the answer lacks.
    """
    table = table_of(answer)
    if table is None:
        yield None, "The answer is not a dict with names of nodes as keys."
        return
    for step, values in asked.items():
        if step not in table:
            yield None, f"Node `{step}` computes, but is missing from the answer."
            return
        names = names_of(table[step])
        if names is None:
            yield None, f"What the answer has for node `{step}` is not a set of names."
            return
        if step in names - values:
            yield None, f"`{step}` is in the answer for itself: its own result does not count."
        for value in sorted(names - values):
            yield None, f"Node `{value}` is in the answer for `{step}`, but it {surplus(step, value)}"
        for value in sorted(values - names):
            yield None, f"While node `{step}` computes, `{value}` {missing}: the answer lacks it.{lacking(value)}"
    for name in table:
        if name not in asked:
            yield None, f"`{name}` is in the answer, but computes nothing."


def returned(case: CaseView) -> Value:
    """What an answer used by ``with_changes`` returned."""
    match case.value:
        case {"dict": [["returned", value], ["changed", _]]}:
            return value
    return None


@rule
def graph_left_alone(case: CaseView) -> Found:
    """The graph that was passed is as it was."""
    match case.value:
        case {"dict": [_, ["changed", [str(name), *_]]]}:
            yield None, f"The graph that was passed has been changed: node `{name}` is not as it was."
