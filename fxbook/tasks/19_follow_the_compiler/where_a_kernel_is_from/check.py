"""Go from a kernel back to the nodes of Dynamo's graph."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.rules.returned import list_of_names
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


@rule
def names_the_origins(case: CaseView) -> Found:
    """The answer is a sorted list of all origins, each once."""
    provenance, kernel = case.arguments
    nodes = [
        node for call, each in provenance["cppCodeToPost"].items() if call.rpartition(":")[0] == kernel for node in each
    ]
    expected = sorted({name for node in nodes for name in provenance["postToPre"].get(node, [])})
    answer = list_of_names(case.value)
    if answer is None:
        yield None, "The answer is not a list of names."
        return
    for name in answer:
        if name in nodes and name not in expected:
            yield None, f"`{name}` is a node of Inductor's graph, not of Dynamo's, but is in the answer."
    for name in expected:
        if name not in answer:
            yield None, f"`{kernel}` also comes from `{name}`, which is missing from the answer."
    for name in answer:
        if name not in expected:
            yield None, f"`{kernel}` does not come from `{name}`, but this name is in the answer."
    for name in answer:
        if answer.count(name) > 1:
            yield None, f"The names are right, but `{name}` is in the list {answer.count(name)} times."
    if answer != expected:
        yield None, "The names are right, but the list is not sorted."


CHECK = Check((names_the_origins,))
