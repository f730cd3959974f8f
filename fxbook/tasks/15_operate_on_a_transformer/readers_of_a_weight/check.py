"""Find the calls to linear layers whose weight another node also reads."""

from __future__ import annotations

import operator

from torch import fx, nn

from fxbook.cases import Check
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import instead_of, names_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def readers(module: fx.GraphModule) -> dict[str, list[str]]:
    """For each call to a linear layer, the other nodes that read its weight."""
    known: dict[int, list[str]] = {}
    for node in module.graph.nodes:
        if node.op == "call_module":
            held = list(module.get_submodule(node.target).parameters())
        elif node.op == "get_attr":
            held = [operator.attrgetter(node.target)(module)]
        else:
            continue
        for tensor in held:
            known.setdefault(id(tensor), []).append(node.name)
    layers = {node.name: module.get_submodule(node.target) for node in module.graph.find_nodes(op="call_module")}
    return {
        name: [other for other in known[id(layer.weight)] if other != name]
        for name, layer in layers.items()
        if isinstance(layer, nn.Linear)
    }


@rule
def finds_the_shared(case: CaseView) -> Found:
    """The answer has each call to a linear layer whose weight another node also reads, and no other node."""
    names, known = names_of(case.value), readers(*case.arguments)
    if names is None:
        yield None, instead_of("a set of node names", case.value)
        return
    for name in sorted(names):
        if case.before.named(name) is None:
            yield None, f"`{name}` is in the answer, but no node has this name."
    for name, others in known.items():
        node = case.before.named(name)
        if name in names and not others:
            yield node, "is in the answer, but no other node reads its weight"
        if name not in names and others:
            yield node, f"has a weight that `{others[0]}` reads too, but is missing from the answer"
    for name in sorted(names):
        if name not in known:
            yield None, f"`{name}` is in the answer, but does not call an `nn.Linear`."


CHECK = Check((finds_the_shared, input_unchanged))
