"""Check the names of the values that the forward graph saves for the backward graph, and their bytes."""

from __future__ import annotations

from torch import fx

from fxbook.cases import Check
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import name_of, node_in, number_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def saved(forward: fx.GraphModule, backward: fx.GraphModule) -> dict[str, int]:
    """The bytes of each value that the forward graph computes and the backward graph gets, in forward order."""
    gets = {node.name for node in backward.graph.nodes if node.op == "placeholder"}
    computed = [node for node in forward.graph.nodes if node.op not in ("placeholder", "output")]
    return {node.name: node.meta["val"].nbytes for node in computed if node.name in gets}


@rule
def names_what_is_saved(case: CaseView) -> Found:
    """The first item is the list of the names, in the order of the forward graph."""
    expected = saved(*case.arguments)
    match case.value:
        case [list(items) | {"tuple": list(items)}, _] | {"tuple": [list(items) | {"tuple": list(items)}, _]}:
            nodes = [item for item in items if not isinstance(item, str)]
            names = [name_of(item) or node_in(item) for item in items]
        case _:
            yield None, "The answer is not a pair: a list of names, and a number."
            return
    graph = case.arguments[0].graph
    inputs, computed = ({node.name for node in found} for found in (graph.find_nodes(op="placeholder"), graph.nodes))
    for name in names:
        if name in inputs:
            yield None, f"`{name}` is in the list, but it is an input of the forward graph, which does not compute it."
        if name not in computed:
            yield None, f"`{name}` is in the list, but no node of the forward graph has this name."
        if name not in expected:
            yield None, f"`{name}` is in the list, but it is not an input of the backward graph."
    if nodes:
        yield None, f"The list contains the node `{node_in(nodes[0])}`: it should contain names, as strings."
    for name in expected:
        if name not in names:
            reason = "the forward graph computes it, and the backward graph gets it"
            yield None, f"`{name}` is missing from the list: {reason}."
    if names != list(expected):
        yield None, "The names are right, but the list should have each name once, in the order of the forward graph."


@rule
def counts_the_bytes(case: CaseView) -> Found:
    """The second item is the sum of the bytes of these values."""
    forward, backward = case.arguments
    expected = sum(saved(forward, backward).values())
    pair = case.value["tuple"] if isinstance(case.value, dict) else case.value
    number = number_of(pair[1])
    if number is None:
        yield None, "The names are right, but the second item is not the number of bytes."
    elif number != expected:
        why = _other_count(number, forward, backward)
        yield None, f"The names are right, but the number of bytes is not: {number:.15g} instead of {expected}{why}."


def _other_count(number: float, forward: fx.GraphModule, backward: fx.GraphModule) -> str:
    """The mistake in counting that explains the number, if there is one."""
    names = saved(forward, backward)
    gets = {node.name for node in backward.graph.find_nodes(op="placeholder")}
    values = [node.meta["val"] for node in forward.graph.nodes if node.name in names]
    inputs = [node.meta["val"] for node in forward.graph.find_nodes(op="placeholder") if node.name in gets]
    stores = {value.untyped_storage()._cdata: value.untyped_storage().nbytes() for value in values}
    if number == sum(value.numel() for value in values):
        return ": that is the number of elements"
    if number == sum(value.nbytes for value in values + inputs):
        return ": inputs of the forward graph do not count"
    if number == sum(stores.values()):
        return ": each value counts with its own size, whatever memory it shares"
    return ""


CHECK = Check((names_what_is_saved, counts_the_bytes, input_unchanged))
