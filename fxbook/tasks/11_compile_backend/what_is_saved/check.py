"""Name what the forward graph saves for the backward graph, and its bytes."""

from __future__ import annotations

from torch import fx

from fxbook.cases import Check
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import name_of, number_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def saved(forward: fx.GraphModule, backward: fx.GraphModule) -> dict[str, int]:
    """The nodes that the forward graph computes and the backward graph gets, with their bytes, in forward order."""
    gets = {node.name for node in backward.graph.nodes if node.op == "placeholder"}
    computed = [node for node in forward.graph.nodes if node.op not in ("placeholder", "output")]
    return {node.name: node.meta["val"].nbytes for node in computed if node.name in gets}


@rule
def names_what_is_saved(case: CaseView) -> Found:
    """The first part is the list of the names, in the order of the forward graph."""
    asked = saved(*case.arguments)
    match case.value:
        case [list(told) | {"tuple": list(told)}, _] | {"tuple": [list(told) | {"tuple": list(told)}, _]}:
            nodes, names = [item for item in told if not isinstance(item, str)], [name_of(item) for item in told]
        case _:
            yield None, "The answer is not a pair of a list of names and a number."
            return
    graph = case.arguments[0].graph
    inputs, computed = ({node.name for node in found} for found in (graph.find_nodes(op="placeholder"), graph.nodes))
    for name in names:
        if name in inputs:
            yield None, f"`{name}` is in the list, but it is an input of the forward graph, which does not compute it."
        if name not in computed:
            yield None, f"`{name}` is in the list, but no node of the forward graph has this name."
        if name not in asked:
            yield None, f"`{name}` is in the list, but it is not an input of the backward graph."
    if nodes:
        yield None, f"The list holds the node `{name_of(nodes[0])}`: the task asks for names, as strings."
    for name in asked:
        if name not in names:
            yield (
                None,
                f"`{name}` is missing from the list: the forward graph computes it, and the backward graph gets it.",
            )
    if names != list(asked):
        yield (
            None,
            "The names are right, but the list does not have each of them once, in the order of the forward graph.",
        )


@rule
def counts_the_bytes(case: CaseView) -> Found:
    """The second part is the sum of the bytes of these values."""
    bytes_ = sum(saved(*case.arguments).values())
    pair = case.value["tuple"] if isinstance(case.value, dict) else case.value
    told = number_of(pair[1])
    if told != bytes_:
        yield None, f"The names are right, but the number of bytes is not: {pair[1]} instead of {bytes_}."


CHECK = Check((names_what_is_saved, counts_the_bytes, input_unchanged))
