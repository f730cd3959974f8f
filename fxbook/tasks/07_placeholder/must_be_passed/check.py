"""Which inputs must be passed."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.cases.values import kind_of
from fxbook.graph.record import NodeRecord
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


@rule
def names_required(case: CaseView) -> Found:
    """The answer lists the parameters that a caller must pass."""
    inputs = {node.target: node for node in case.before if node.op == "placeholder"}
    wanted = [name for name, node in inputs.items() if not node.positional and not name.startswith("*")]
    names = case.value.get("tuple") if isinstance(case.value, dict) else case.value
    if isinstance(names, list) and any(isinstance(name, dict) and "node" in name for name in names):
        yield None, "The answer contains nodes: return the names of the parameters."
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        kind = "a set" if isinstance(case.value, dict) and "set" in case.value else kind_of(case.value)
        kind = "a list of other objects" if isinstance(names, list) else kind
        yield None, f"The answer is {kind}: return a list of strings."
        return
    for name in names:
        if name not in wanted:
            sentence, place = _not_required(name, inputs)
            yield None, f"`{name}` is in the list{sentence}.", place
    for name in wanted:
        if name not in names:
            yield None, f"`{name}` is not in the list: a call that leaves it out fails."
    for name in wanted:
        if names.count(name) > 1:
            yield None, f"`{name}` is in the list {names.count(name)} times: it should appear once."
    for name, other in zip(names, wanted, strict=True):
        if name != other:
            yield (
                None,
                f"The names are right, but their order is not: `{other}` comes before `{name}` in the signature.",
            )


def _not_required(name: str, inputs: dict[str, NodeRecord]) -> tuple[str, str | None]:
    """What the name is, as the end of a sentence, and where that is explained."""
    for target in inputs:
        if target.startswith("*") and target.lstrip("*") == name.strip("*_"):
            return f": `{target}` takes any number of values, so a call may pass none", None
    if name in inputs:
        default = inputs[name].call.removeprefix(f"{name}=")
        return f": its default is `{default}`, so a caller may leave it out", None
    for target, node in inputs.items():
        if node.name == name:
            place = "01_node_creation#name-and-target-of-a-placeholder"
            return f": that is the name of the node, but callers pass `{target}`", place
    return ", but is not an input of the graph", None


CHECK = Check((names_required, input_unchanged))
