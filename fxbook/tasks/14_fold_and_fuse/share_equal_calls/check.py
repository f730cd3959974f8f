"""Make equal calls once: no equal call is left, no different call is gone, and two results stay two."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from fxbook.cases import Check
from fxbook.graph.naming import callable_name
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.rules.explained import given_edited, lints, recompiled
from fxbook.rules.predicates import edited, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import PURE, SYMMETRIC

JSON = Any
EQUAL = "14_fold_and_fuse#equal-calls-are-made-once"
_FUNCTIONS = {callable_name(target) for target in PURE if callable(target)}
_EITHER_ORDER = {callable_name(target) for target in SYMMETRIC}
_METHODS = {target for target in PURE if isinstance(target, str)}


def _is_pure(node: NodeRecord) -> bool:
    return (node.op == "call_function" and node.target in _FUNCTIONS) or (
        node.op == "call_method" and node.target in _METHODS
    )


def _key(node: NodeRecord, of: Callable[[JSON], JSON] = lambda value: value) -> str:
    """A call, as text that is equal for equal calls."""
    named = sorted((name, json.dumps(of(value))) for name, value in node.kwargs["dict"])
    values = [json.dumps(of(value)) for value in node.positional]
    if node.target in _EITHER_ORDER and not named:
        values.sort()
    return json.dumps([node.op, node.target, values, named])


def _returned(graph: GraphRecord) -> list[int]:
    return [index for node in graph if node.op == "output" for index in node.inputs]


def _called(nodes: GraphRecord, wanted: Callable[[NodeRecord], bool]) -> Counter[str]:
    return Counter(f"{node.op} {node.target}" for node in nodes if wanted(node))


@rule(EQUAL)
def others_stay(case: CaseView) -> Found:
    """Functions that are not in ``PURE`` are called as often as before."""
    if case.graph is None:
        return
    before = _called(case.before, lambda node: not _is_pure(node))
    after = _called(case.graph, lambda node: not _is_pure(node))
    for node in case.before:
        call = f"{node.op} {node.target}"
        if not _is_pure(node) and after[call] < before[call]:
            yield node, f"or a call like it is missing, although it is not in `PURE`: `{node.call}`"
    for node in case.nodes:
        call = f"{node.op} {node.target}"
        if not _is_pure(node) and after[call] > before[call]:
            yield node, f"is one call too many: `{node.call}`"


@rule(EQUAL)
def results_apart(case: CaseView) -> Found:
    """Two results that were two calls are still two calls."""
    if case.graph is None:
        return
    was, is_now = _returned(case.before), _returned(case.graph)
    if len(was) != len(is_now):
        return
    for one in range(len(was)):
        for other in range(one):
            if was[one] != was[other] and is_now[one] == is_now[other]:
                names = sorted((case.before.nodes[was[other]].name, case.before.nodes[was[one]].name))
                node = case.graph.nodes[is_now[one]]
                yield node, f"is returned twice: `{names[0]}` and `{names[1]}` were two results, and both must stay"


def _loose(value: JSON, stands_for: dict[int, int]) -> JSON:
    """An argument in which one node stands for all equal nodes; a list equals a tuple with the same items."""
    match value:
        case {"node": int(index)}:
            return {"node": stands_for.get(index, index)}
        case list(items) | {"tuple": list(items)}:
            return [_loose(item, stands_for) for item in items]
    return value


def _loose_key(node: NodeRecord, stands_for: dict[int, int]) -> str:
    """Like :func:`_key`, but calls with equal calls as arguments are equal."""
    return _key(node, lambda value: _loose(value, stands_for))


def _classes(graph: GraphRecord) -> dict[int, int]:
    """Each call to ``PURE``, with the first call that is equal to it; calls that the graph returns may be equal too."""
    stands_for, first = dict[int, int](), dict[str, int]()
    for node in graph:
        if _is_pure(node):
            stands_for[node.index] = first.setdefault(_loose_key(node, stands_for), node.index)
    return stands_for


def _different(graph: GraphRecord) -> Counter[str]:
    """For each function or method, the minimum number of calls to ``PURE`` that stay."""
    returned, stands_for, first = set(_returned(graph)), dict[int, int](), dict[str, int]()
    for node in graph:
        if not _is_pure(node):
            continue
        one = first.setdefault(_loose_key(node, stands_for), node.index)
        if one == node.index or {one, node.index} <= returned:
            continue
        stands_for[node.index] = one
        if node.index in returned:
            returned.add(one)
    return _called(graph, lambda node: _is_pure(node) and node.index not in stands_for)


@rule(EQUAL)
def equal_calls_alone_merge(case: CaseView) -> Found:
    """A call to ``PURE`` is replaced only by an equal call. Checked only if something is wrong."""
    classes, now = _classes(case.before), case.now()
    was = {node.index: index for index, node in now.items()}
    for index, reader in sorted(now.items()):
        places = zip(case.before.nodes[index].inputs, reader.inputs, strict=False)
        for given, found in places:
            other = was.get(found, given)
            if given in classes and other in classes and classes[given] != classes[other]:
                gone, stays = case.before.nodes[given], case.before.nodes[other]
                calls = f"`{stays.call}` is not `{gone.call}`"
                yield case.nodes[found], f"replaces `{gone.name}`, but the two differ: {calls}"


@rule(EQUAL)
def different_calls_stay(case: CaseView) -> Found:
    """A call to ``PURE`` goes only if an equal call stays; computing the same result is not enough."""
    if case.graph is None:
        return
    after = _called(case.graph, _is_pure)
    for call, count in _different(case.before).items():
        if after[call] < count:
            name = call.partition(" ")[2]
            yield (
                None,
                f"The graph calls `{name}` {after[call]} times, but {count} of its calls differ from one another.",
            )


@rule(EQUAL)
def equal_calls_are_one(case: CaseView) -> Found:
    """No two calls to ``PURE`` are equal, unless the graph returns both."""
    if case.graph is None:
        return
    returned, first = set(_returned(case.graph)), dict[str, list[NodeRecord]]()
    for node in case.nodes:
        if not _is_pure(node):
            continue
        for earlier in first.setdefault(_key(node), []):
            if not {node.index, earlier.index} <= returned:
                yield node, f"is equal to `{earlier.name}`, and one of the two must go: `{node.call}`"
        first[_key(node)].append(node)


CHECK = Check(
    (
        lints,
        recompiled,
        edited,
        given_edited,
        others_stay,
        results_apart,
        same_result.or_because(equal_calls_alone_merge),
        different_calls_stay.or_because(equal_calls_alone_merge),
        equal_calls_are_one,
    )
)
