"""Name what the forward graph saves for the backward graph, and its bytes."""

from __future__ import annotations

from torch import fx

from fxbook.cases import Check
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import name_of, number_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def saved(forward: fx.GraphModule, backward: fx.GraphModule) -> dict[str, int]:
    """The nodes that the forward graph computes and the backward graph gets, each with its bytes, in their order."""
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
    inputs = {node.name for node in case.arguments[0].graph.find_nodes(op="placeholder")}
    for name in names:
        if name in inputs:
            yield (
                None,
                f"`{name}` is in the list, and it is an input of the forward graph, which computes nothing for it.",
            )
        if name not in asked:
            yield (
                None,
                f"`{name}` is in the list, but the backward graph does not get this value from the forward graph.",
            )
    if nodes:
        yield None, f"The list holds an object, the node `{name_of(nodes[0])}`: names were asked, as text."
    for name in asked:
        if name not in names:
            yield (
                None,
                f"`{name}` is missing in the list: the forward graph computes it, and the backward graph gets it.",
            )
    if names != list(asked):
        yield None, "The names are right, but not in the order of the forward graph, each of them once."


@rule
def counts_the_bytes(case: CaseView) -> Found:
    """The second part is the sum of the bytes of these values."""
    bytes_ = sum(saved(*case.arguments).values())
    pair = case.value["tuple"] if isinstance(case.value, dict) else case.value
    told = number_of(pair[1])
    if told != bytes_:
        yield None, f"The names are right, but their values do not take so many bytes: {pair[1]} in place of {bytes_}."


CHECK = Check((names_what_is_saved, counts_the_bytes, input_unchanged))
