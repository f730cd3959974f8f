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
    every = set().union(*known.values())
    match case.value:
        case list(answer) | {"tuple": list(answer)}:
            pass
        case _:
            yield None, "The answer is not a list."
            return
    nodes = module.graph.find_nodes(op="placeholder")
    if len(answer) != len(nodes):
        yield None, f"The list has {len(answer)} entries for {len(nodes)} placeholders."
        return
    for place, (node, value, said) in enumerate(zip(nodes, example_inputs, answer, strict=True)):
        names = known.get(id(value), set())
        where = f"placeholder `{node.name}`"
        if names and said is None:
            yield None, f"Entry {place} is None, but {where} is a parameter or buffer of the model."
        elif names and (not isinstance(said, str) or said not in every):
            yield None, f"Entry {place} is not the name of a parameter or buffer of the model."
        elif names and said not in names:
            yield None, f"Entry {place} names a different tensor from {where}."
        elif not names and said is not None:
            yield None, f"Entry {place} is not None, but {where} is neither a parameter nor a buffer of the model."


CHECK = Check((names_each_input, input_unchanged))
