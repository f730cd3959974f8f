"""Find the constants of a functional graph: all calls that are constants, and no other node."""

from __future__ import annotations

import operator

import torch
from torch import fx

from fxbook.cases import Check
from fxbook.rules.returned import instead_of, names_of, repeated_name
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def reasons(module: fx.GraphModule) -> dict[str, str | None]:
    """For each `call_function` node, why it is not a constant; ``None`` if it is a constant."""
    found: dict[str, str | None] = {}
    fixed: set[fx.Node] = set()
    for node in module.graph.nodes:
        if node.op == "get_attr" and not operator.attrgetter(str(node.target))(module).requires_grad:
            fixed.add(node)
        if node.op != "call_function":
            continue
        why = _why_not(node, fixed)
        if why is None:
            fixed.add(node)
        found[node.name] = why
    return found


def _why_not(node: fx.Node, fixed: set[fx.Node]) -> str | None:
    for used in node.all_input_nodes:
        if used not in fixed:
            return f"it uses `{used.name}`, which is {'trained' if used.op == 'get_attr' else 'not a constant'}"
    if node.target is operator.getitem:
        return None
    if torch.Tag.nondeterministic_seeded in node.target.tags:
        return "it draws random numbers"
    return None if node.target._schema.returns else "it returns nothing"


@rule
def finds_the_constants(case: CaseView) -> Found:
    """The answer contains all calls that are constants, and no other node."""
    names = names_of(case.value)
    if names is None:
        yield None, instead_of("a list of node names", case.value)
        return
    [module] = case.arguments
    found = reasons(module)
    for name in sorted(names - found.keys()):
        yield None, f"`{name}` is in the answer but is not the name of a `call_function` node."
    for name, why in found.items():
        if why and name in names:
            yield case.before.named(name), f"is in the answer but is not a constant: {why}"
        if not why and name not in names:
            yield case.before.named(name), "is a constant but is missing from the answer"
    if twice := repeated_name(case.value):
        yield case.before.named(twice), "is in the answer more than once"


CHECK = Check((finds_the_constants,))
