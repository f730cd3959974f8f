"""Which values must be alive at each node, and how to check an answer that lists values by node."""

from __future__ import annotations

from collections.abc import Callable

from fxbook.cases.values import Value
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.rules.returned import instead_of, names_of, table_of
from fxbook.rules.rule import Found


def last_user(graph: GraphRecord, node: NodeRecord) -> NodeRecord:
    """The last node in the list that uses this node, or the node itself if it has no users."""
    return graph.nodes[max(node.users, default=node.index)]


def needed(graph: GraphRecord) -> dict[str, set[str]]:
    """For each node that computes, the names of the earlier values that it or a later node uses.

    The result of an in-place method is the tensor that it changed, so its users count as users of that tensor.
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
    """The nodes whose values exist when this node begins: all inputs, and the nodes before it."""
    return [node for node in graph if node.op == "placeholder" or node.index < step.index]


def differences(
    answer: Value,
    expected: dict[str, set[str]],
    missing: str,
    surplus: Callable[[str, str], str],
    lacking: Callable[[str], str] = lambda value: "",
) -> Found:
    """How an answer that lists values for each node that computes differs from the expected lists.

    Args:
        answer: what the answer returned, encoded.
        expected: maps the name of each node to the names of the values.
        missing: what a report says about a value that the answer leaves out, after its name.
        surplus: what a report says about a value that should not be in the answer; it gets the node and the value.
        lacking: a further sentence about a value that the answer leaves out.
    """
    table = table_of(answer)
    if table is None:
        yield None, instead_of("a dict with node names as keys", answer)
        return
    for step, values in expected.items():
        if step not in table:
            yield None, f"Node `{step}` computes, but is not a key of the answer."
            return
        names = names_of(table[step])
        if names is None:
            yield None, instead_of(f"a set of names for node `{step}`", table[step])
            return
        if step in names - values:
            yield None, f"The answer for node `{step}` contains `{step}` itself: a node's own result does not count."
        for value in sorted(names - values):
            yield None, f"The answer for node `{step}` contains `{value}`, but `{value}` {surplus(step, value)}"
        for value in sorted(values - names):
            yield None, f"While node `{step}` computes, `{value}` {missing}, but is not in the answer.{lacking(value)}"
    for name in table:
        if name not in expected:
            yield None, f"`{name}` is a key of the answer, but is not a node that computes."
