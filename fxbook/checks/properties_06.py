"""What the exercises of chapter 06 demand of arguments: where they stand, which are left out, what is told apart."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.asking.families import family
from fxbook.asking.rule import Violation
from fxbook.asking.view import CaseView
from fxbook.graph.record import JSON, NodeRecord

HERE = "06_kwargs"
_BOTH = f"{HERE}#the-call-decides-the-place"
_FROZEN = f"{HERE}#both-are-frozen-assign"
_TWICE = f"{HERE}#typeerror-sum-got-multiple-values-for-argument-dim"
_WRONG = f"{HERE}#who-finds-a-wrong-keyword"
_CONTAINER = f"{HERE}#a-node-may-hide-in-a-container"
SUM = family("sum")
CAT = family("cat", "concat", "concatenate")


# ---- arguments of a record -------------------------------------------------------------------------------------------


def named(node: NodeRecord) -> dict[str, JSON]:
    """The arguments by name."""
    return dict(node.kwargs["dict"])


def _argument(node: NodeRecord, position: int, name: str) -> JSON:
    by_name = named(node)
    if name in by_name:
        return by_name[name]
    items = node.positional
    return items[position] if position < len(items) else None


# ---- find the dim ----------------------------------------------------------------------------------------------------


def dims_found(case: CaseView) -> Violation | None:
    """The answer maps the name of each sum to its ``dim``."""
    found = case.value
    if not (isinstance(found, dict) and "dict" in found):
        return Violation("The answer is no dict.")
    if any(isinstance(key, dict) and "node" in key for key, _ in found["dict"]):
        return Violation("The answer has nodes for keys: their names were asked.")
    answered = {str(key): value for key, value in found["dict"]}
    sums = {node.name: node for node in case.before if node in SUM}
    for name in answered:
        if name not in sums:
            return Violation(f"The answer has the key {name!r}, which is the name of no sum.")
    for name, node in sums.items():
        wanted = _argument(node, 1, "dim")
        if name not in answered:
            return Violation(f"The answer lacks `{name} = {node.call}`.")
        if _plain(answered[name]) != _plain(wanted):
            told = "None" if answered[name] is None else "another dim"
            return Violation(f"For `{name} = {node.call}` the answer is {told}.", look=_BOTH)
    return None


def _plain(value: JSON) -> JSON:
    """A tuple of numbers as a list: a record and an answer may hold either."""
    return value["tuple"] if isinstance(value, dict) and "tuple" in value else value


# ---- keep the dims ---------------------------------------------------------------------------------------------------


def no_argument_twice(case: CaseView) -> Violation | None:
    """No sum is given its ``dim`` or ``keepdim`` by position and by name."""
    for node in case.nodes:
        if node in SUM:
            for place, name in ((1, "dim"), (2, "keepdim")):
                if name in named(node) and len(node.positional) > place:
                    message = f"Node `{node.name}` is given `{name}` twice, by position and by name."
                    return Violation(message, node.index, _TWICE)
    return None


def only_sums_changed(case: CaseView) -> Violation | None:
    """No other call has got a keyword."""
    for node in case.nodes:
        before = case.before.named(node.name)
        if node not in SUM and before:
            new = next((name for name in named(node) if name not in named(before)), None)
            if new:
                return Violation(f"Node `{node.name}` has got `{new}`, and is no sum.", node.index, _WRONG)
    return None


def keep_where_a_dim_is(case: CaseView) -> Violation | None:
    """A sum keeps its dimensions if and only if it has a ``dim``."""
    for node in case.nodes:
        if node in SUM:
            has_dim = _argument(node, 1, "dim") is not None
            keeps = _argument(node, 2, "keepdim") is True
            if has_dim and not keeps:
                return Violation(f"Node `{node.name}` does not keep its dimensions.", node.index, _BOTH)
            if keeps and not has_dim:
                message = f"Node `{node.name}` has `keepdim`, and no `dim`: it was to stay as it is."
                return Violation(message, node.index)
    return None


def keywords_kept(case: CaseView) -> Violation | None:
    """A node that calls what it called has the keywords that it had, whatever their values."""
    for node in case.nodes:
        before = case.before.named(node.name)
        if before and before.target == node.target:
            lost = next((name for name in named(before) if name not in named(node)), None)
            if lost:
                message = f"Node `{node.name}` has lost `{lost}`."
                return Violation(message, node.index, _FROZEN)
    return None


# ---- leave out defaults ----------------------------------------------------------------------------------------------


def no_default_left(case: CaseView) -> Violation | None:
    """No Python function is given a keyword whose value is its default."""
    defaults = _defaults(case)
    for node in case.nodes:
        left = next((name for name, value in named(node).items() if _is_default(defaults, node, name, value)), None)
        if left:
            message = f"Node `{node.name}` still has `{left}`, whose value is the default."
            return Violation(message, node.index, _BOTH)
    return None


def others_kept(case: CaseView) -> Violation | None:
    """Every other argument is still there: those by position, and keywords whose value is not the default."""
    defaults = _defaults(case)
    for node, origin in zip(case.nodes, case.origins, strict=True):
        if origin is None or not 0 <= origin < len(case.before):
            continue
        before = case.before.nodes[origin]
        moved = len(node.positional) - len(before.positional)
        if moved < 0:
            message = f"Node `{node.name}` has lost an argument by position: only keywords were to be left out."
            return Violation(message, node.index, _BOTH)
        lost = [n for n, v in named(before).items() if n not in named(node) and not _is_default(defaults, before, n, v)]
        if len(lost) > moved:
            function = before.op == "call_function" and before.target in defaults
            why = "was not a default of that function" if function else "was to stay: it calls no Python function"
            message = f"Node `{node.name}` has lost `{lost[0]}`, {'whose value' if function else 'which'} {why}."
            return Violation(message, node.index, _FROZEN)
    return None


def _is_default(defaults: dict[str, dict[str, Any]], node: NodeRecord, name: str, value: JSON) -> bool:
    known = defaults.get(node.target, {}) if node.op == "call_function" else {}
    plain = float(value["float"]) if isinstance(value, dict) and "float" in value else value
    return name in known and bool(known[name] == plain)


def _defaults(case: CaseView) -> dict[str, dict[str, Any]]:
    """The defaults of each Python function that the model calls, by the readable name of the function."""
    graph = next(item for item in case.arguments if isinstance(item, fx.GraphModule)).graph
    found: dict[str, dict[str, Any]] = {}
    for node, line in zip(graph.nodes, case.before, strict=True):
        if node.op == "call_function" and inspect.isfunction(node.target):
            parameters = inspect.signature(node.target).parameters.values()
            found[line.target] = {p.name: p.default for p in parameters if p.default is not p.empty}
    return found


# ---- one more in the list --------------------------------------------------------------------------------------------


def input_in_every_cat(case: CaseView) -> Violation | None:
    """Every concatenation has the first input of the model as its last tensor, and no other call has got it."""
    first = next((node.index for node in case.nodes if node.op == "placeholder"), None)
    for node, origin in zip(case.nodes, case.origins, strict=True):
        before = len(case.before.nodes[origin].inputs) if origin is not None and origin < len(case.before) else None
        if node in CAT:
            if not node.inputs or node.inputs[-1] != first or (before is not None and len(node.inputs) != before + 1):
                message = f"Node `{node.name}` was to join the first input as its last tensor, once more than before."
                return Violation(message, node.index, _CONTAINER)
        elif before is not None and len(node.inputs) > before:
            return Violation(f"Node `{node.name}` reads more than before, and is no `torch.cat`.", node.index)
    return None


def dims_kept(case: CaseView) -> Violation | None:
    """Every concatenation has the ``dim`` that it had."""
    for node, origin in zip(case.nodes, case.origins, strict=True):
        if node in CAT and origin is not None and 0 <= origin < len(case.before):
            dim = _argument(case.before.nodes[origin], 1, "dim")
            if dim is not None and _argument(node, 1, "dim") is None:
                return Violation(f"Node `{node.name}` has lost its `dim`.", node.index, _CONTAINER)
    return None


def as_many_cats(case: CaseView) -> Violation | None:
    """No concatenation was added to those that the model has."""
    known, found = (sum(node in CAT for node in graph) for graph in (case.before, case.nodes))
    if found > known:
        new = next((n for n in case.nodes if n in CAT and case.before.named(n.name) is None), None)
        message = f"The graph has {found} calls of `torch.cat`, where the model has {known}: none was to be added."
        return Violation(message, new.index if new else None, _CONTAINER)
    return None


# ---- tell a difference -----------------------------------------------------------------------------------------------


def asked(answer: Callable[..., Any], model: nn.Module, changed: nn.Module, x: Tensor) -> dict[str, Any]:
    """What the answer says of the two modules, what it left behind, whether it let an error of the second through."""
    before = x.clone()
    said, let_through = None, False
    try:
        said = (answer() if isinstance(answer, type) else answer)(model, changed, x)
    except Exception as error:
        if type(error) is not _error_of(changed, before):
            raise
        let_through = True
    graded = [name for name, weight in model.named_parameters() if weight.grad is not None]
    other_values = x.shape != before.shape or not torch.equal(x, before)
    wants = "requires a gradient" if x.requires_grad else "has other values" if other_values else None
    return {"said": said, "let through": let_through, "graded": graded, "x": wants}


def _error_of(changed: nn.Module, x: Tensor) -> type[Exception] | None:
    """The class of the error that the module raises when it runs, or when its gradient is computed."""
    leaf = x.clone().requires_grad_()
    try:
        torch.autograd.grad(changed.forward(leaf + 0).sum(), [leaf])
    except Exception as error:
        return type(error)
    return None
