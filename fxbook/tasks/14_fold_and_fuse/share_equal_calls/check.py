"""Make equal calls once: no two equal calls are left, no other call is gone, and separate results stay separate."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable

from fxbook.cases import Check
from fxbook.graph.naming import callable_name
from fxbook.graph.record import JSON, NodeRecord
from fxbook.rules.explained import given_edited, lints, recompiled
from fxbook.rules.families import Family
from fxbook.rules.predicates import edited, others_stay, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import PURE, SYMMETRIC

_PURE = Family(
    "a member of `PURE`",
    frozenset(callable_name(target) for target in PURE if callable(target)),
    frozenset(target for target in PURE if isinstance(target, str)),
)
_EITHER_ORDER = {callable_name(target) for target in SYMMETRIC}


def _key(node: NodeRecord, of: Callable[[JSON], JSON] = lambda value: value) -> str:
    """The call as text, the same for equal calls."""
    named = sorted((name, json.dumps(of(value))) for name, value in node.kwargs["dict"])
    values = [json.dumps(of(value)) for value in node.positional]
    if node.target in _EITHER_ORDER and not named:
        values.sort()
    return json.dumps([node.op, node.target, values, named])


def _returned(nodes: Iterable[NodeRecord]) -> list[int]:
    return [index for node in nodes if node.op == "output" for index in node.inputs]


@rule
def results_apart(case: CaseView) -> Found:
    """Results that were separate calls are still separate calls."""
    was, now = _returned(case.before), _returned(case.nodes)
    if len(was) != len(now):
        return
    for one in range(len(was)):
        for other in range(one):
            if was[one] != was[other] and now[one] == now[other]:
                names = sorted((case.before.nodes[was[other]].name, case.before.nodes[was[one]].name))
                yield (
                    case.nodes[now[one]],
                    f"is returned twice: `{names[0]}` and `{names[1]}` were separate results, and both must stay",
                )


def _loose(value: JSON, stands_for: dict[int, int]) -> JSON:
    """The argument with one node in place of all equal nodes, and with lists in place of tuples."""
    match value:
        case {"node": int(index)}:
            return {"node": stands_for.get(index, index)}
        case list(items) | {"tuple": list(items)}:
            return [_loose(item, stands_for) for item in items]
    return value


def _loose_key(node: NodeRecord, stands_for: dict[int, int]) -> str:
    """Like :func:`_key`, but calls whose arguments are equal calls are equal too."""
    return _key(node, lambda value: _loose(value, stands_for))


def _classes(nodes: Iterable[NodeRecord]) -> dict[int, int]:
    """Maps each pure call to the first call that is equal to it, whether or not the graph returns both."""
    stands_for, first = dict[int, int](), dict[str, int]()
    for node in nodes:
        if node in _PURE:
            stands_for[node.index] = first.setdefault(_loose_key(node, stands_for), node.index)
    return stands_for


def _must_stay(nodes: Iterable[NodeRecord]) -> Counter[str]:
    """The least number of calls to each member of ``PURE`` that must stay."""
    returned, stands_for, first = set(_returned(nodes)), dict[int, int](), dict[str, int]()
    count = Counter[str]()
    for node in nodes:
        if node not in _PURE:
            continue
        one = first.setdefault(_loose_key(node, stands_for), node.index)
        stands_for[node.index] = one
        if one == node.index or {one, node.index} <= returned:
            count[node.target] += 1
            continue
        if node.index in returned:
            returned.add(one)
    return count


@rule
def equal_calls_alone_merge(case: CaseView) -> Found:
    """A pure call is replaced only by an equal call. Checked only if another rule is violated."""
    classes, now = _classes(case.before), case.now()
    was = {node.index: index for index, node in now.items()}
    for index, user in sorted(now.items()):
        for given, found in zip(case.before.nodes[index].inputs, user.inputs, strict=False):
            other = was.get(found, given)
            if given in classes and other in classes and classes[given] != classes[other]:
                gone, stays = case.before.nodes[given], case.before.nodes[other]
                calls = f"`{stays.call}` is not `{gone.call}`"
                yield case.nodes[found], f"replaces `{gone.name}`, but the two differ: {calls}"


@rule
def different_calls_stay(case: CaseView) -> Found:
    """A pure call is removed only if an equal call stays; a different call with the same result is not enough."""
    after = Counter(node.target for node in case.nodes if node in _PURE)
    for target, count in _must_stay(case.before).items():
        if after[target] < count:
            yield None, f"The graph calls `{target}` {after[target]} times, but {count} of the given calls must stay."


@rule
def equal_calls_are_one(case: CaseView) -> Found:
    """No two pure calls are equal, unless the graph returns both."""
    returned, first = set(_returned(case.nodes)), dict[str, list[NodeRecord]]()
    for node in case.nodes:
        if node not in _PURE:
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
        others_stay(_PURE),
        results_apart,
        same_result.or_because(equal_calls_alone_merge),
        different_calls_stay.or_because(equal_calls_alone_merge),
        equal_calls_are_one,
    )
)
