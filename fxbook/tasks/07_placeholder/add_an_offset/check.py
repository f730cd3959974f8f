"""Add an input, ``offset``, to what a graph returns."""

from __future__ import annotations

import inspect
from typing import Any

from torch import nn

from fxbook.cases import Check
from fxbook.cases.values import difference, encode
from fxbook.rules import explained
from fxbook.rules.explained import callers_input_stays, given_edited, lints, no_dead_nodes, output_last, recompiled
from fxbook.rules.predicates import same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def with_offset(model: nn.Module, *inputs: Any) -> Any:
    """The model's result plus the offset, which is the value after the model's own inputs, or 0.0."""
    # By name, because an input that is keyword-only in the model is passed by position to its graph.
    given = dict(zip((*inspect.signature(model.forward).parameters, "offset"), inputs, strict=False))
    offset = given.pop("offset", 0.0)
    return model(**given) + offset


@rule
def input_added_last(case: CaseView) -> Found:
    """The graph has its former inputs in the same order, and after them the new one, with its default."""
    inputs = [node for node in case.nodes if node.op == "placeholder"]
    defaults = {node.target: node.args for node in case.before if node.op == "placeholder"}
    before = list(defaults)
    added = next((node for node in inputs if node.target == "offset"), None)
    if added is None:
        yield None, "The graph has no input called `offset`."
    elif [node.target for node in inputs if node is not added] != before:
        yield None, f"The inputs before `offset` should still be {', '.join(f'`{target}`' for target in before)}."
    elif added is not inputs[-1]:
        following = inputs[inputs.index(added) + 1].target
        yield added, f"`offset` comes before `{following}`: it should come after all other inputs."
    elif difference(added.args, encode((0.0,))):
        yield added, "`offset` does not have the default 0.0."
    elif added.args != encode((0.0,)):
        yield added, f"`offset` has the default {added.positional[0]!r}, an integer: it should be 0.0, a float."
    for node in inputs:
        if node.args != defaults.get(node.target, node.args):
            yield node, f"The default of `{node.target}` has changed: only `offset` should be added."


@rule("when_it_breaks/07_placeholder#silent-a-node-overwrites-the-parameter")
def parameters_kept(case: CaseView) -> Found:
    """No node before a placeholder has the name of the placeholder's parameter, which the code would overwrite."""
    for node in case.nodes:
        for earlier in case.nodes[: node.index]:
            if node.op == "placeholder" and earlier.name == node.target:
                line = f"In the code, the line of node `{earlier.name}`"
                yield node, f"{line} overwrites the parameter `{node.target}` before it is used."


@rule
def offset_added(case: CaseView) -> Found:
    """The offset is added to the value that the model returned."""
    returned = case.before.nodes[case.before.nodes[-1].inputs[0]].name
    for node in case.new():
        reads = [case.nodes[index] for index in node.inputs]
        if any(read.target == "offset" and read.op == "placeholder" for read in reads):
            other = next((read.name for read in reads if read.target != "offset"), returned)
            if other != returned:
                yield node, f"adds the offset to `{other}`, but the model returned `{returned}`"


@rule("03_replacement#one-use-or-all-uses")
def other_users_kept(case: CaseView) -> Found:
    """The sum is only returned: no other node of the model uses it in place of the old result."""
    new = {node.index: node.name for node in case.new()}
    for node, _ in case.kept():
        for index in node.inputs:
            if node.op != "output" and index in new:
                yield node, f"uses `{new[index]}`: the offset should be added only to the result that is returned"


CHECK = Check(
    (
        lints,
        input_added_last,
        recompiled,
        output_last,
        same_result.or_because(parameters_kept, offset_added, other_users_kept, explained.writes_stay),
        callers_input_stays,
        no_dead_nodes,
        given_edited,
    ),
    expected=with_offset,
)
