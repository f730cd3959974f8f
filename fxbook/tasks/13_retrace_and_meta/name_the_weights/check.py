"""Give the attributes of a retraced graph their names in the graph that was run."""

from __future__ import annotations

from torch import fx

from fxbook.cases import Check
from fxbook.cases.values import kind_of
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import name_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def names_in(traced: fx.GraphModule, lowered: fx.GraphModule) -> dict[str, set[str]]:
    """The attributes that the new graph fetches, each with all the names of its tensor in the old module."""
    held = [*traced.named_parameters(remove_duplicate=False), *traced.named_buffers(remove_duplicate=False)]
    fetched = {node.target: getattr(lowered, node.target) for node in lowered.graph.find_nodes(op="get_attr")}
    return {target: {name for name, one in held if one is tensor} for target, tensor in fetched.items()}


@rule
def named_rightly(case: CaseView) -> Found:
    """The answer maps each attribute that the new graph fetches to a name of the same tensor in the old module."""
    table, right = table_of(case.value["dict"][0][1]), names_in(*case.arguments)
    if table is None:
        yield None, "The answer is not a dict with attribute names as keys."
        return
    if table and not set(table) & set(right) and all(name_of(value) in right for value in table.values()):
        yield None, f"`{next(iter(table))}` is a key: the keys must be the attributes of `lowered`."
    for target, names in right.items():
        if target not in table:
            yield None, f"`lowered` fetches `{target}`, which is missing from the answer."
            return
        name = name_of(table[target])
        if name is None:
            yield None, f"The value for `{target}` is {kind_of(table[target])}, not a name."
        elif name not in set().union(*right.values()):
            yield None, f"`{name}`, the value for `{target}`, is not the name of a tensor that `lowered` fetches."
        elif name not in names:
            yield None, f"`{target}`, which `lowered` fetches, is not the tensor `{name}` of `traced`."
    for target in table:
        if target not in right:
            yield None, f"`{target}` is in the answer, but the graph of `lowered` does not fetch it."


@rule
def lowered_unchanged(case: CaseView) -> Found:
    """The new module is also unchanged."""
    match case.value:
        case {"dict": [_, ["changed", [str(change), *_]]]}:
            yield None, f"`lowered` has been changed: {change}."


CHECK = Check((named_rightly, input_unchanged, lowered_unchanged))
