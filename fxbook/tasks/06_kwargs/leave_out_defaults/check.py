"""Leave out what is the default."""

from __future__ import annotations

import inspect
from typing import Any

from torch import fx

from fxbook.cases import Check
from fxbook.graph.record import JSON, NodeRecord
from fxbook.rules.explained import given_edited, lints, recompiled
from fxbook.rules.predicates import others_stay, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import keywords

Defaults = dict[str, dict[str, Any]]
_OTHER = ", whose value is not the default"
_CALLS = {"call_method": ", but calls a method", "call_module": ", but calls a layer"}


@rule
def others_kept(case: CaseView) -> Found:
    """Positional arguments, and keywords whose value is not the default, are still there."""
    defaults = _defaults(case)
    for node, before in case.kept():
        moved = len(node.positional) - len(before.positional)
        if moved < 0:
            yield node, "has lost a positional argument: `args` should stay as they were"
        if moved > 0:
            yield node, "has a new positional argument: `args` should stay as they were"
        lost = [
            name
            for name, value in keywords(before).items()
            if name not in keywords(node) and not _is_default(defaults, before, name, value)
        ]
        if lost:
            is_python = before.op == "call_function" and before.target in defaults
            why = _CALLS.get(before.op) or (_OTHER if is_python else ", but does not call a Python function")
            yield node, f"has lost `{lost[0]}`{why}", "06_kwargs#both-are-frozen-assign"


@rule
def no_default_left(case: CaseView) -> Found:
    """No call to a Python function has a keyword whose value is the default."""
    defaults = _defaults(case)
    for node in case.nodes:
        for name, value in keywords(node).items():
            if _is_default(defaults, node, name, value):
                yield node, f"still has `{name}`, whose value is the default"


def _is_default(defaults: Defaults, node: NodeRecord, name: str, value: JSON) -> bool:
    of_function = defaults.get(node.target, {}) if node.op == "call_function" else {}
    plain = float(value["float"]) if isinstance(value, dict) and "float" in value else value
    return name in of_function and bool(of_function[name] == plain)


def _defaults(case: CaseView) -> Defaults:
    """The defaults of each Python function that the model calls, by the readable name of the function."""
    [traced] = case.arguments
    assert isinstance(traced, fx.GraphModule)
    defaults: Defaults = {}
    for node, before in zip(traced.graph.nodes, case.before, strict=True):
        if node.op == "call_function" and inspect.isfunction(node.target):
            parameters = inspect.signature(node.target).parameters.values()
            defaults[before.target] = {each.name: each.default for each in parameters if each.default is not each.empty}
    return defaults


CHECK = Check((lints, recompiled, others_kept, same_result, others_stay(), no_default_left, given_edited))
