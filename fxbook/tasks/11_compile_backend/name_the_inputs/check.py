"""Name the inputs of the graph that a backend gets."""

from __future__ import annotations

from torch import nn

from fxbook.cases import Check
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def names_by_identity(model: nn.Module) -> dict[int, set[str]]:
    """All names of each parameter and buffer, by the identity of the tensor."""
    names: dict[int, set[str]] = {}
    for named in (model.named_parameters, model.named_buffers):
        for name, tensor in named(remove_duplicate=False):
            names.setdefault(id(tensor), set()).add(name)
    return names


@rule
def names_each_input(case: CaseView) -> Found:
    """The list has the name of a parameter or buffer, or ``None``, for each placeholder, in order."""
    module, example_inputs, model = case.arguments
    known = names_by_identity(model)
    match case.value:
        case list(answer) | {"tuple": list(answer)}:
            pass
        case _:
            yield None, "The answer is not a list."
            return
    nodes = module.graph.find_nodes(op="placeholder")
    if len(answer) != len(nodes):
        yield None, f"The list has not one entry for each placeholder: {len(answer)} for {len(nodes)}."
        return
    for place, (node, value, said) in enumerate(zip(nodes, example_inputs, answer, strict=True)):
        names = known.get(id(value), set())
        where = f"Entry {place} is for placeholder `{node.name}`"
        if names and said is None:
            yield None, f"{where}, which is a tensor of the model, and the answer is None."
        elif names and said not in names:
            yield None, f"{where}, which is another tensor than the one that the answer names."
        elif not names and said is not None:
            yield None, f"{where}, which is no parameter and no buffer of the model: None was asked."


CHECK = Check((names_each_input, input_unchanged))
