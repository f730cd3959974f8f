"""Check the groups of linear layers that share an input."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.cases.values import Value
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.rules.explained import graph_left_alone
from fxbook.rules.families import LINEAR
from fxbook.rules.returned import entry, instead_of, node_in, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def groups_of(graph: GraphRecord) -> dict[str, list[str]]:
    """Maps each input of two or more linear layers to these layers, by name."""
    groups: dict[str, list[str]] = {}
    for node in graph:
        if node in LINEAR:
            groups.setdefault(_input_of(graph, node), []).append(node.name)
    return {name: layers for name, layers in groups.items() if len(layers) > 1}


def _input_of(graph: GraphRecord, node: NodeRecord) -> str:
    first = node.positional[0] if node.positional else dict(node.kwargs["dict"])["input"]
    return graph.nodes[first["node"]].name


@rule("12_patterns#when-a-loop-is-better")
def every_group(case: CaseView) -> Found:
    """The answer maps each input of two or more layers to these layers, in graph order."""
    value, expected = entry(case.value, "returned"), groups_of(case.before)
    table = table_of(value)
    if table is None:
        yield None, instead_of("a dict with node names as keys", value)
        return
    for items in table.values():
        if node_in(items) is not None:
            yield None, instead_of("a list of names", items)
    nodes = {node.name: node for node in case.before}
    for name in table:
        if name not in expected:
            yield nodes.get(name), f"`{name}` is a key of the answer, but is not the input of two linear layers."
    for name, layers in expected.items():
        if name not in table:
            yield nodes[name], f"`{name}` is the input of {len(layers)} linear layers, but is not a key of the answer."
            return
        found = _items(table[name])
        if not isinstance(table[name], list | dict) or not found:
            yield None, f"The value for `{name}` is not a list of names."
            return
        if sorted(map(str, found)) == sorted(layers) and found != layers:
            yield nodes[name], f"The layers with the input `{name}` are not in graph order."
        for layer in found:
            if layer not in layers:
                node = nodes.get(str(layer))
                yield node, f"`{layer}` is in the list for `{name}`, but {_why_not(case.before, node)}."
        for layer in layers:
            if layer not in found:
                yield nodes[layer], f"Layer `{layer}` has the input `{name}`, but is not in the list for `{name}`."
        if len(found) != len(layers):
            yield nodes[name], f"The list for `{name}` has a layer twice."


def _why_not(graph: GraphRecord, node: NodeRecord | None) -> str:
    """Why a node is not a linear layer with the given input."""
    if node is None:
        return "no node has this name"
    if node not in LINEAR:
        return f"it calls {node.kind or node.target}, which is not a linear layer"
    return f"its input is `{_input_of(graph, node)}`"


def _items(value: Value) -> list[Value]:
    """The items of an encoded list or tuple; nothing for any other value."""
    match value:
        case list(items) | {"tuple": list(items)}:
            return items
    return []


CHECK = Check((every_group, graph_left_alone.at("12_patterns#a-backend-sees-the-whole-model")))
