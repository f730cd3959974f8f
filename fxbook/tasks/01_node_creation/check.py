"""Rules that exercises of chapter 01 share."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from fxbook.cases.values import Value, dict_items, difference
from fxbook.graph.record import NodeRecord
from fxbook.rules.families import family
from fxbook.rules.predicates import runs
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import with_gradients

_CUT = family("detach", "alias_copy", functions=(Tensor.detach,))


@rule
def no_module_called(case: CaseView) -> Found:
    """No node calls a module."""
    for node in case.nodes:
        if node.op == "call_module":
            yield node, f"calls the module `{node.target}`: no module should be called"
        for read in (case.nodes[index] for index in node.inputs):
            is_module = read.op == "get_attr" and read.target in case.modules
            if is_module and (node.target != "getattr" or node.positional[1:] == ["forward"]):
                yield node, f"calls the module `{read.target}`: no module should be called"


def expected_with_gradients(model: nn.Module, x: Tensor) -> dict[str, Any]:
    """What the model returns, and its gradients."""
    return with_gradients(model, model, x)


@rule
def same_result(case: CaseView) -> Found:
    """On random inputs, the returned module returns what the model returns."""
    yield from runs.find(case)
    for found, expected in _pairs(case, "result"):
        if differs := difference(found, expected):
            yield _output(case), f"The result is not the one asked for: {differs}."


@rule
def gradients_kept(case: CaseView) -> Found:
    """Each parameter, and the input, gets the same gradient as in the model."""
    for found, expected in _pairs(case, "gradients"):
        theirs, ours = dict_items(found), dict_items(expected)
        for name, gradient in ours.items():
            if difference(theirs.get(name), gradient):
                cut = next((node for node in case.nodes if _cuts(node)), None)
                why = f": node `{cut.name}` cuts it off" if cut else ""
                gets = "a different gradient from the one in the model" if theirs.get(name) else f"no gradient{why}"
                yield cut, f"The result is right, but {_owner(name)} gets {gets}."


def _pairs(case: CaseView, part: str) -> list[tuple[Value, Value]]:
    """A part of what each run returned, with the expected part."""
    key = repr(part)
    return [
        (dict_items(output)[key], dict_items(expected)[key])
        for output, expected in zip(case.outputs or [], case.expected, strict=True)
    ]


def _owner(key: str) -> str:
    name = key.strip("'")
    return name if name == "the input" else f"`{name}`"


def _output(case: CaseView) -> NodeRecord | None:
    return next((node for node in case.nodes if node.op == "output"), None)


def _cuts(node: NodeRecord) -> bool:
    return node in _CUT or (node.target == "getattr" and "data" in node.positional)


@rule
def nothing_detached(case: CaseView) -> Found:
    """No node cuts off gradients, since the expression to build does not."""
    for node in case.nodes:
        if _cuts(node):
            yield node, "cuts off gradients, but the expression does not"
