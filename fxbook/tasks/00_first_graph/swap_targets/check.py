"""Swap what is called."""

from __future__ import annotations

from collections import Counter
from typing import Any

from torch import Tensor, fx, nn

from fxbook.cases import Check
from fxbook.cases.exercise import graph_of
from fxbook.graph.naming import callable_name
from fxbook.graph.record import NodeRecord
from fxbook.rules.explained import given_edited, lints, recompiled
from fxbook.rules.families import RELU, Family
from fxbook.rules.predicates import calls, no_dead_nodes, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import target_fits_op
from .cases import OTHER_SWAPS, SWAPS, NamedAsMethods, NamedRelu

RELU_MODULE = Family("the submodule `relu`, which must stay", modules=RELU.modules)


def swapped(model: nn.Module, x: Tensor) -> Tensor:
    """What the model returns if each call to a key of the dict calls the new target instead."""
    table = OTHER_SWAPS if isinstance(model, NamedAsMethods) else SWAPS

    class Swapping(fx.Interpreter):
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_function(table.get(target, target), args, kwargs)

        def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_method(table.get(target, target), args, kwargs)

    return Swapping(model, graph=graph_of(model)).run(x)


@rule
def submodule_stays(case: CaseView) -> Found:
    """The submodule ``relu`` is still called."""
    if isinstance(case.model, NamedRelu):
        yield from calls(RELU_MODULE).find(case)


def _keys(case: CaseView, op: str) -> list[str]:
    """The keys of the dict for calls with this opcode, written as nodes show them."""
    _, table = case.arguments
    if op == "call_method":
        return [key for key in table if isinstance(key, str)]
    return [callable_name(key) for key in table if not isinstance(key, str)] if op == "call_function" else []


@rule
def no_key_is_called(case: CaseView) -> Found:
    """No node calls a key of the dict; a key that is also a new target is left to other rules."""
    new = [callable_name(target) if callable(target) else target for target in case.arguments[1].values()]
    for node in case.nodes:
        if node.target in _keys(case, node.op) and node.target not in new:
            yield node, f"still calls `{node.target}`, a key of the dict"


@rule
def swapped_once(case: CaseView) -> Found:
    """If the dict exchanges two targets, both are swapped, and no node is changed twice."""
    for node, before in case.kept():
        if before.target in _keys(case, before.op) and node.target == before.target:
            yield node, f"calls `{node.target}`, as before: its target should be swapped once"


def _wanted(case: CaseView) -> list[tuple[NodeRecord, str]]:
    """Each call in the given graph, with the target that it should have."""
    _, table = case.arguments
    new = {(op, key): value for op in ("call_function", "call_method") for key, value in _named(table, op)}
    calls = [node for node in case.before if node.op in ("call_function", "call_method")]
    return [(node, new.get((node.op, node.target), node.target)) for node in calls]


def _named(table: dict[Any, Any], op: str) -> list[tuple[str, str]]:
    """The items of the dict for calls with this opcode, written as nodes show them."""
    if op == "call_method":
        return [(key, value) for key, value in table.items() if isinstance(key, str)]
    return [(callable_name(key), callable_name(value)) for key, value in table.items() if not isinstance(key, str)]


@rule
def methods_stay_methods(case: CaseView) -> Found:
    """Methods are replaced with methods, and functions with functions."""
    wanted = Counter((node.op, target) for node, target in _wanted(case))
    present = Counter((node.op, node.target) for node in case.nodes if node.op in ("call_function", "call_method"))
    missing = {(op, target.rpartition(".")[2]) for op, target in wanted - present}
    extra = present - wanted
    for node in case.nodes:
        other = {"call_function": "call_method", "call_method": "call_function"}.get(node.op)
        if extra[node.op, node.target] and (other, node.target.rpartition(".")[2]) in missing:
            yield node, f"is a `{node.op}`, but should be a `{other}`, like the call that it replaces"


@rule
def arguments_stay(case: CaseView) -> Found:
    """A changed call has not lost an argument."""
    wanted: dict[tuple[str, str], list[int]] = {}
    for before, target in _wanted(case):
        wanted.setdefault((before.op, target), []).append(_arguments(before))
    for node in case.nodes:
        if _arguments(node) < min(wanted.get((node.op, node.target), [0])):
            yield node, f"has fewer arguments than the call that it replaces: `{node.call}`"


def _arguments(node: NodeRecord) -> int:
    return len(node.positional) + len(node.kwargs.get("dict", ()))


@rule
def other_calls_stay(case: CaseView) -> Found:
    """A node whose target is not a key of the dict still calls what it called before."""
    for node, before in case.kept():
        if (
            before.op.startswith("call")
            and before.target not in _keys(case, before.op)
            and node.target != before.target
        ):
            yield node, f"no longer calls `{before.target}`, a `{before.op}` target that is not a key of the dict"


@rule
def inputs_stay(case: CaseView) -> Found:
    """Inputs keep their names."""
    names = [node.target for node in case.before if node.op == "placeholder"]
    for node, name in zip((node for node in case.nodes if node.op == "placeholder"), names, strict=False):
        if node.target != name:
            yield node, f"The input `{name}` is now called `{node.target}`: it should keep its name."


@rule
def dead_calls_swapped(case: CaseView) -> Found:
    """A call without users is swapped like any other, and stays."""
    _, table = case.arguments
    dead = [node for node in case.nodes if "dead" in node.notes]
    for before in case.before:
        if "dead" in before.notes and table.get(before.target) not in [node.target for node in dead]:
            yield next(iter(dead), before), f"has no users, but should be swapped, not erased: `{before.call}`"


CHECK = Check(
    (
        target_fits_op,
        lints,
        recompiled,
        same_result.or_because(
            no_key_is_called, swapped_once, submodule_stays, other_calls_stay, arguments_stay, no_dead_nodes
        ),
        methods_stay_methods,
        inputs_stay,
        no_dead_nodes,
        dead_calls_swapped,
        given_edited,
    ),
    expected=swapped,
)
